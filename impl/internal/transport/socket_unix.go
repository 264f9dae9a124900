//go:build unix

package transport

import "syscall"

var passingErrors = []syscall.Errno{
	syscall.ENETUNREACH, syscall.EHOSTUNREACH, syscall.ENETDOWN, syscall.EHOSTDOWN, syscall.EADDRNOTAVAIL,
	syscall.EPERM, syscall.EACCES, syscall.ENOBUFS,
}
