"""The machine and the run, as the context of a document: the names are those of `attn`'s own. What cannot be seen is null."""
import datetime
import os
import pathlib
import platform
import re
import sys
import time

CPU = pathlib.Path("/sys/devices/system/cpu")


def _text(path):
    try:
        return pathlib.Path(path).read_text().strip()
    except OSError:
        return None


def _size_bytes(text):
    return int(text[:-1]) * {"K": 1 << 10, "M": 1 << 20}[text[-1]] if text[-1] in "KM" else int(text)


def _num_sharing(cpu_list):
    """How many CPUs a list such as 0-3,8 names."""
    ends = [part.split("-") for part in cpu_list.split(",")]
    return sum(int(part[-1]) - int(part[0]) + 1 for part in ends)


def caches():
    """The caches of the first CPU, nearest first."""
    found = []
    for index in sorted(CPU.glob("cpu0/cache/index*")):
        kind, level, size, sharing = (_text(index / name) for name in ("type", "level", "size", "shared_cpu_list"))
        if kind and level and size and sharing:
            found.append({"type": kind, "level": int(level), "size": _size_bytes(size), "num_sharing": _num_sharing(sharing)})
    return found


def last_cache_bytes():
    return max((cache["size"] for cache in caches()), default=0)


def available_bytes():
    """Memory that can be had without swapping; None where the system does not tell."""
    match = re.search(r"^MemAvailable:\s+(\d+) kB", _text("/proc/meminfo") or "", re.M)
    return int(match[1]) * 1024 if match else None


def cpu_model():
    match = re.search(r"^model name\s*:\s*(.+)$", _text("/proc/cpuinfo") or "", re.M)
    return match[1] if match else platform.processor() or None


def _scaling_enabled():
    governors = [_text(path) for path in CPU.glob("cpu[0-9]*/cpufreq/scaling_governor")]
    return any(governor != "performance" for governor in governors) if governors else None


def _clock_resolution_ns():
    """The smallest step by which the clock was seen to advance."""
    times = [time.perf_counter_ns() for _ in range(10000)]
    return min(later - earlier for earlier, later in zip(times, times[1:]) if later > earlier)


def context(threads, versions):
    frequencies = [float(mhz) for mhz in re.findall(r"^cpu MHz\s*:\s*([\d.]+)$", _text("/proc/cpuinfo") or "", re.M)]
    return {
        "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"), "executable": sys.argv[0], "argv": sys.argv[1:],
        "host_name": platform.node(), "cpu_model": cpu_model(), "num_cpus": os.cpu_count(), "mhz_per_cpu": max(frequencies, default=None),
        "cpu_scaling_enabled": _scaling_enabled(), "caches": caches(), "memory_available_bytes": available_bytes(),
        "load_avg": list(os.getloadavg()), "isa": None, "threads": threads, "timer_resolution_ns": _clock_resolution_ns(),
        "library_build_type": None, "compiler": None, "compiler_flags": None, "attn_version": None, "git_sha": None, "git_dirty": None,
        "python": platform.python_version(), "libraries": versions,
    }
