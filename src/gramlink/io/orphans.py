"""Orphans: processes whose parent was killed, which must not stay behind."""

import multiprocessing
import os
import threading


def end_with_parent() -> None:
    """End this process, which a pool of `multiprocessing` started, as soon as its parent ends.

    Such a process waits for its next task for ever, as it holds the other end of the pipe too.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def wait() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
