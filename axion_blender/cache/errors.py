# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be wrong with a cache, in sentences that name the file and the cure."""

import errno


class CacheError(RuntimeError):
    """A cache that cannot be used or written."""


class DamagedError(CacheError):
    """A file of a cache that is not as it was written: nothing in it is used."""


class ForeignError(CacheError):
    """A file that Axion did not write."""


class NewerError(CacheError):
    """A file of a later version of Axion."""


FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
IN_THE_WAY = {errno.EEXIST, errno.ENOTDIR, errno.ELOOP}
FORBIDDEN = {errno.EROFS, errno.EACCES, errno.EPERM}


def is_forbidden(error):
    """Whether a CacheError says that the system lets nobody write, or not this user."""
    return isinstance(error.__cause__, OSError) and error.__cause__.errno in FORBIDDEN


def writing_failed(folder, error):
    """The CacheError to raise from an OSError met while writing below ``folder``."""
    if error.errno in FULL:
        reason, cure = "the disk is full", "free some space and bake again, which goes on from the frames already kept"
    elif error.errno in FORBIDDEN:
        # Windows says the same of a file that somebody has open.
        reason = "it is read-only, or another program has a file of it open"
        cure = "close that program, choose another Cache Folder, or turn off Use Cache in the scene's Axion settings"
    elif error.errno in IN_THE_WAY:
        reason = "what is there is no folder, or a link that leads nowhere"
        cure = "remove it, choose another Cache Folder, or turn off Use Cache in the scene's Axion settings"
    else:
        reason = error.strerror or type(error).__name__
        cure = "mend that, choose another Cache Folder, or turn off Use Cache in the scene's Axion settings"
    return CacheError(f"The cache folder {folder} cannot be written, {reason}: {cure}")
