# Both programs in an image with nothing else: no shell, no libraries.
#
#   docker build --tag axon-conformance .            the suite (the default)
#   docker build --target axon --tag axon .          the daemon and its commands
#   docker run --rm axon-conformance run             judge the bundled daemon
#   docker run --rm --network host -v "$PWD:/data" axon-conformance \
#     run --target 127.0.0.1:7100 --identity /data/suite.key --report html=/data/report.html
#   docker run -v axon-state:/home/axon -p 7100:7100/udp axon daemon
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG TARGETOS TARGETARCH
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -buildvcs=false -trimpath -ldflags='-s -w' -o /root-of-image/usr/local/bin/ ./cmd/axon ./cmd/axon-conformance
# What a program expects to find: a place for temporary files, and a home in which
# identities and state are kept.
RUN mkdir -p /root-of-image/tmp /root-of-image/home/axon /root-of-image/data \
 && chmod 1777 /root-of-image/tmp && chmod 700 /root-of-image/home/axon \
 && chown -R 65532:65532 /root-of-image/home/axon /root-of-image/data

FROM scratch AS programs
COPY --from=build /root-of-image/ /
ENV PATH=/usr/local/bin HOME=/home/axon
WORKDIR /data
USER 65532:65532

FROM programs AS axon
EXPOSE 7100/udp
VOLUME /home/axon
ENTRYPOINT ["/usr/local/bin/axon"]
CMD ["daemon"]

FROM programs AS axon-conformance
ENTRYPOINT ["/usr/local/bin/axon-conformance"]
CMD ["run"]
