package program

import (
	"fmt"
	"os/exec"
	"unsafe"

	"golang.org/x/sys/windows"
)

// tree is a program and its children: a job object. Children that the program
// starts before it has joined the job, in the first moment, are not in it.
type tree struct {
	cmd *exec.Cmd
	job windows.Handle
}

func newTree(cmd *exec.Cmd) (*tree, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("make a job object: %w", err)
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		_ = windows.CloseHandle(job)
		return nil, fmt.Errorf("set up a job object: %w", err)
	}
	return &tree{cmd: cmd, job: job}, nil
}

// join is called once the program has started. Where it fails, kill reaches the
// program alone.
func (t *tree) join() {
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(t.cmd.Process.Pid))
	if err != nil {
		return
	}
	_ = windows.AssignProcessToJobObject(t.job, process)
	_ = windows.CloseHandle(process)
}

// kill ends all of them.
func (t *tree) kill() error {
	err := windows.TerminateJobObject(t.job, 1)
	if killErr := t.cmd.Process.Kill(); err != nil {
		return killErr
	}
	return nil
}

func (t *tree) close() { _ = windows.CloseHandle(t.job) }
