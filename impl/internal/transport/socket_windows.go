package transport

import (
	"syscall"

	"golang.org/x/sys/windows"
)

var passingErrors = []syscall.Errno{
	windows.WSAENETUNREACH, windows.WSAEHOSTUNREACH, windows.WSAENETDOWN, windows.WSAEHOSTDOWN, windows.WSAEADDRNOTAVAIL,
	windows.WSAEACCES, windows.WSAENOBUFS,
}
