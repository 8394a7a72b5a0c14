"""The preamble of a process that lacks what Windows lacks; as `sitecustomize.py` it runs before everything else.

Names and modules are removed. What remains behaves as on Windows where this matters: folders cannot be opened, only
files open for writing can be synced, an open file can be neither removed nor renamed, users may make no symlinks, text
files end their lines with two characters, and a lock is one of the first byte.
"""

import builtins
import ctypes
import errno
import fcntl
import io
import json
import os
import pathlib
import struct
import subprocess  # noqa: F401 (it asks for msvcrt to know the system)
import sys
import types
from contextlib import suppress

LACKING = pathlib.Path(__file__).with_name("lacking.json")
# Python itself needs these on Linux, to start processes among others
NEEDED = {"EX_OK", "WNOHANG", "WIFSTOPPED", "WSTOPSIG", "set_blocking", "uname", "SIGCHLD", "sysconf", "getuid"}
KEPT = {"posix", "grp", "pwd", "tty", "termios"}
MODULES = ("os", "signal", "time", "faulthandler")


def remove():
    """Remove the names and modules that Windows lacks."""
    for module, names in json.loads(LACKING.read_text("utf-8")).items():
        if names is None and module not in KEPT and not module.startswith(("_", "multiprocessing.")):
            sys.modules[module] = None
        elif names is not None and module in MODULES:
            owner = __import__(module)
            for name in set(names) - NEEDED:
                if name in vars(owner):
                    delattr(owner, name)


def lock(file, *, blocking):
    """Lock the first byte as filelock does on Windows: for one open file, whatever process has it."""
    assert not blocking
    kind = fcntl.F_WRLCK if fcntl_of(file, GETFL) & os.O_RDWR else fcntl.F_RDLCK
    try:
        fcntl_of(file, F_OFD_SETLK, struct.pack("hhqqi4x", kind, os.SEEK_SET, 0, 1, 0))
    except BlockingIOError:
        return False
    return True


fcntl_of, F_OFD_SETLK, GETFL = fcntl.fcntl, 37, fcntl.F_GETFL
if "msvcrt" not in json.loads(LACKING.read_text("utf-8")):
    with suppress(ImportError):
        import filelock
        import locket  # noqa: F401 (libraries of dask's: on Linux they need `fcntl` and `resource`)
        import psutil

        filelock.lock_descriptor = lock
        psutil.pid_exists = lambda process: os.path.exists(f"/proc/{process}")
sys.modules["msvcrt"] = types.SimpleNamespace()
real_open, real_fsync, real_dll, real_kill, real_text = os.open, os.fsync, ctypes.CDLL, os.kill, io.open


def open_file(path, flags, mode=0o777, **more):
    if os.path.isdir(path):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))
    if not more and not isinstance(path, int) and not flags & 0x80000:
        flags |= 0x80000  # O_CLOEXEC, which Python sets by itself
    return real_open(path, flags, mode, **more)


def fsync(file):
    if not fcntl_of(file, GETFL) & (os.O_WRONLY | os.O_RDWR):
        raise OSError(errno.EBADF, "Bad file descriptor")
    real_fsync(file)


def open_text(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None):
    if "b" not in mode and newline is None and set(mode) & set("wax+"):
        newline = "\r\n"
    return real_text(file, mode, buffering, encoding, errors, newline, closefd, opener)


def library(name=None, *arguments, **more):
    if name is None:
        raise TypeError("LoadLibrary() argument 1 must be str, not None")
    return real_dll(name, *arguments, **more)


def kill(process, number):
    assert number, "os.kill(process, 0) is a Ctrl-C on Windows"
    real_kill(process, number)


def symlink(source, target, target_is_directory=False, **more):
    raise OSError(errno.EINVAL, "A required privilege is not held by the client", str(source))


def is_open(path):
    wanted = os.path.realpath(path)
    for number in os.listdir("/proc/self/fd"):
        try:
            found = os.readlink(f"/proc/self/fd/{number}")
        except OSError:
            continue
        if found == wanted or found.startswith(wanted + "/"):
            return True
    return False


def refusing(function, replaces):
    def checked(*paths, **more):
        for path in paths:
            if isinstance(path, (str, os.PathLike)) and not more and not os.path.islink(path) and is_open(path):
                raise PermissionError(errno.EACCES, "The process cannot access the file", str(path))
        if len(paths) > 1 and os.path.lexists(paths[1]) and (not replaces or os.path.isdir(paths[1])):
            raise (PermissionError if replaces else FileExistsError)(errno.EACCES, "Access is denied", str(paths[1]))
        return function(*paths, **more)

    return checked


os.open, os.fsync, os.kill, os.symlink = open_file, fsync, kill, symlink
os.unlink = os.remove = refusing(os.unlink, False)
os.rmdir, os.rename, os.replace = refusing(os.rmdir, False), refusing(os.rename, False), refusing(os.replace, True)
builtins.open = io.open = open_text
ctypes.CDLL = library
remove()
