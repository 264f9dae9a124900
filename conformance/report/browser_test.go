package report

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// requireBrowser is the environment variable that turns the lack of a browser
// from a skipped test into a failed one; CI sets it to 1.
const requireBrowser = "AXON_REQUIRE_BROWSER"

// screenshots is the environment variable that names a directory into which the
// tests put pictures of the page, to be looked at.
const screenshots = "AXON_SCREENSHOTS"

// browserCeiling bounds what one test does in the browser.
const browserCeiling = 2 * time.Minute

func findBrowser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv(requireBrowser) == "1" {
		t.Fatalf("no chromium is installed, and %s=1 asks for one: apt-get install chromium", requireBrowser)
	}
	t.Skip("no chromium is installed, so the HTML report is not tried in a browser; apt-get install chromium")
	return ""
}

// tab is a page in a browser, with all that it asked for and complained of.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu         sync.Mutex // guards what follows
	requests   []string
	complaints []string
}

// openBrowser starts a browser of its own, with nothing in it from others.
func openBrowser(t *testing.T) *tab {
	t.Helper()
	program := findBrowser(t)
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program), chromedp.UserDataDir(t.TempDir()), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true))
	allocator, stop := chromedp.NewExecAllocator(t.Context(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil && !errors.Is(err, context.Canceled) {
			t.Logf("closing the browser: %v", err)
		}
		cancel()
		stop()
	})
	b := &tab{t: t, ctx: ctx}
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("the browser did not start: %v", err)
	}
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Fatal(err)
	}
	limited, release := context.WithTimeout(ctx, browserCeiling)
	t.Cleanup(release)
	b.ctx = limited
	return b
}

// hear keeps what a page asks for, and what it has to complain of.
func (b *tab) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	case *log.EventEntryAdded:
		b.complaints = append(b.complaints, e.Entry.Text)
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		b.complaints = append(b.complaints, fmt.Sprintf("console.%s", e.Type))
	}
}

// heard gives what there was since the last call.
func (b *tab) heard() (requests, complaints []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	requests, complaints = b.requests, b.complaints
	b.requests, b.complaints = nil, nil
	return requests, complaints
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// eval runs a script in the page and gives its value.
func eval[T any](b *tab, script string) T {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](script))
	if err != nil {
		b.t.Fatalf("%s: %v", script, err)
	}
	return value
}

// expect demands the value of a script.
func expect[T comparable](b *tab, script string, want T) {
	b.t.Helper()
	if got := eval[T](b, script); got != want {
		b.t.Errorf("%s is %v, want %v", script, got, want)
	}
}

// look sets the size of the window and the colours that the reader likes.
func (b *tab) look(width int64, scheme string) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: 844, DeviceScaleFactor: 1, Mobile: width < 600})
	if err != nil {
		b.t.Fatal(err)
	}
	_, err = chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	if err != nil {
		b.t.Fatal(err)
	}
}

// picture keeps what the page looks like, where the caller of the tests asks.
func (b *tab) picture(name string) {
	b.t.Helper()
	dir := os.Getenv(screenshots)
	if dir == "" {
		return
	}
	shot, err := chromedp.Call(b.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{})
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), shot.Data, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// fileURL writes a report as a page and gives its address.
func fileURL(t *testing.T, r Report) string {
	t.Helper()
	return pageURL(t, []byte(htmlOf(t, r)))
}

// pageURL writes a page and gives its address.
func pageURL(t *testing.T, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
}

// await waits until a script's value is true.
func (b *tab) await(script string) {
	b.t.Helper()
	if _, err := chromedp.Run(b.ctx, chromedp.Poll[bool](script, chromedp.WithPollingTimeout(20*time.Second))); err != nil {
		b.t.Fatalf("%s never became true: %v", script, err)
	}
}

// stroke presses a key as a keyboard does: its character comes with the key, so
// that the page may keep it.
func (b *tab) stroke(key string) {
	b.t.Helper()
	for _, event := range []input.DispatchKeyEventParams{
		{Type: input.DispatchKeyEventTypeKeyDown, Key: key, Text: key}, {Type: input.DispatchKeyEventTypeKeyUp, Key: key},
	} {
		if _, err := chromedp.Call(b.ctx, input.DispatchKeyEvent, event); err != nil {
			b.t.Fatal(err)
		}
	}
}
