"""How busy the machine was with other things while a program ran. Standard library only."""
import os
import pathlib
import resource
import time

NOTEWORTHY_CORES = 0.2


class OthersWatch:
    """Started before a child process; cores() afterwards, the child having been waited for."""

    def __init__(self):
        self._start = self._reading()

    def cores(self):
        """The cores that others kept busy on average, the hypervisor's theft included; None where the system does not tell."""
        if self._start is None:
            return None
        elapsed_s, busy_s, own_s = (after - before for before, after in zip(self._start, self._reading()))
        return max(0.0, busy_s - own_s) / elapsed_s

    @staticmethod
    def _reading():
        """Seconds of the clock, of all processors' work, of the work of this process's children and its own."""
        try:
            fields = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()
        except OSError:
            return None
        user, nice, system, _idle, _iowait, irq, softirq, steal = (int(field) for field in fields[1:9])
        busy_s = (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")
        used = [resource.getrusage(who) for who in (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF)]
        return time.monotonic(), busy_s, sum(usage.ru_utime + usage.ru_stime for usage in used)
