"""Plans as classes, one for each command that makes a plan.

A setting that is left out is as the command line sets it; `plan()` shows all of them.

Written by `python/build_backend.py` from the command line's grammar.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, ClassVar, Literal

from .drive import target_of
from .plan import Command, Plan, Size, Target, Time
from .workload import Workload


@dataclass(frozen=True)
class Check(Command):
    """Is the drive slow, why, and what fixes it?"""

    command: ClassVar[str] = "check"

    bytes: Size | None = field(default=None, kw_only=True)
    """Write at most this much; 0 writes nothing [default: 2GiB, with --thorough 64GiB]."""
    thorough: bool = field(default=False, kw_only=True)
    """Test for minutes and write up to 64 GiB: finds what a short test cannot."""
    files: Sequence[str | PathLike[str]] | str | PathLike[str] | None = field(default=None, kw_only=True)
    """Also read the files in this folder: what share of the rated speed do they get?"""
    upgrade: Sequence[str] | str | None = field(default=None, kw_only=True)
    """Would a new drive be faster? Compares with these drives of `likenew drives`."""
    trace: str | PathLike[str] | None = field(default=None, kw_only=True)
    """With --upgrade: a recorded day of this drive, from `likenew record` or any trace format."""
    app: Sequence[str] | str | None = field(default=None, kw_only=True)
    """With --upgrade and no trace: applications to replay instead, as `likenew apps` names them [default:
    pcmark8]."""
    advertised: Sequence[str] | str | None = field(default=None, kw_only=True)
    """Rated speeds: read=550MB/s,write=520MB/s,random_read=95000 … [default: a simulated drive's own, or the
    catalog's]."""
    baseline: str | None = field(default=None, kw_only=True)
    """Run folder of an earlier check to compare with, or none [default: for a real drive, its first check; a
    simulated drive is compared with itself when new]."""


@dataclass(frozen=True)
class Recondition(Command):
    """Restore a slow drive, gentlest step first, and prove the gain."""

    command: ClassVar[str] = "recondition"

    dry_run: bool = field(default=False, kw_only=True)
    """Change nothing: show which steps are possible, what each costs and what it would lose."""
    step: str | None = field(default=None, kw_only=True)
    """Take this step whatever the diagnosis is: refresh and rewrite lose nothing; after trim and overwrite, deleted
    files cannot be recovered; discard-unused loses what no partition covers; discard, overwrite-all and format
    ERASE EVERYTHING [default: the gentlest that can help and loses no file]."""
    passes: int | None = field(default=None, kw_only=True)
    """At most this many overwrite passes; stops earlier when a pass gains nothing."""
    idle: Time | None = field(default=None, kw_only=True)
    """Idle time after a step, for the drive to finish it."""
    bytes: Size | None = field(default=None, kw_only=True)
    """Each check, before and after, writes at most this much [default: 2GiB]."""
    overwrite_max: Size | None = field(default=None, kw_only=True)
    """Overwrite at most this much free space [default: all above the reserve]."""
    rate: str | None = field(default=None, kw_only=True)
    """Limit of the rewriting rate, such as 50MB/s [default: as fast as the drive goes]."""
    journal: str | PathLike[str] | None = field(default=None, kw_only=True)
    """With --step refresh or rewrite of a whole device: journal of the data being rewritten, a new file on another
    drive [default: beside the audit log]."""
    erase: Literal["user-data", "key"] | None = field(default=None, kw_only=True)
    """With --step format: erase user data, or the key that encrypts all of it."""
    advertised: Sequence[str] | str | None = field(default=None, kw_only=True)
    """Rated speeds: read=550MB/s,write=520MB/s,random_read=95000 … [default: a simulated drive's own, or the
    catalog's]."""
    baseline: str | None = field(default=None, kw_only=True)
    """Run folder of an earlier check to compare with, or none [default: for a real drive, its first check; a
    simulated drive is compared with itself when new]."""


@dataclass(frozen=True)
class Bench(Command):
    """Sequential and random speed in one table."""

    command: ClassVar[str] = "bench"

    profile: str | None = field(default=None, kw_only=True)
    """Which tests to run."""
    op: Sequence[str] | str | None = field(default=None, kw_only=True)
    """Operations: read, write, mix:70 (70% reads) [default: read,write; read where the target is read-only]."""
    rwmixread: str | None = field(default=None, kw_only=True)
    """Same as --op mix:PERCENT, as fio spells it."""
    span: Size | None = field(default=None, kw_only=True)
    """Address space to test [default: 1GiB, or what there is]."""
    passes: int | None = field(default=None, kw_only=True)
    """Passes of each test."""
    precise: str | None = field(default=None, kw_only=True)
    """Instead, repeat short passes until the mean of each test is known this well, such as 2%."""
    passes_max: int | None = field(default=None, kw_only=True)
    """At most this many passes of a test with --precise."""
    time: Time | None = field(default=None, kw_only=True)
    """Time limit of a pass; it also ends once it has moved as many bytes as the span holds."""
    idle: Time | None = field(default=None, kw_only=True)
    """Idle time before each pass."""
    data: str | None = field(default=None, kw_only=True)
    """Data to write: random, zero, or what it compresses to, such as 0.5 for half."""


@dataclass(frozen=True)
class Sweep(Command):
    """Speed over block size, queue depth, operation, pattern and data."""

    command: ClassVar[str] = "sweep"

    profile: str | None = field(default=None, kw_only=True)
    """Preset; the options below change parts of it."""
    op: Sequence[str] | str | None = field(default=None, kw_only=True)
    """Operations: read, write, mix:70 (70% reads) [preset default: read,write]."""
    rwmixread: str | None = field(default=None, kw_only=True)
    """Same as --op mix:PERCENT, as fio spells it."""
    pattern: Sequence[str] | str | None = field(default=None, kw_only=True)
    """Access patterns [preset default: sequential,random]."""
    block: Sequence[Size] | Size | None = field(default=None, kw_only=True)
    """Block sizes; 512..64M means every doubling [preset default: 4k,16k,64k,256k,1M]."""
    depth: Sequence[int] | int | str | None = field(default=None, kw_only=True)
    """Queue depths; 1..256 means every doubling [preset default: 1,4,32]."""
    data: Sequence[str] | str | None = field(default=None, kw_only=True)
    """Data: random, zero, or what it compresses to, such as 0.5 for half [preset default: random]."""
    span: Size | None = field(default=None, kw_only=True)
    """Address space to test [preset default: 1GiB, or what there is]."""
    time: Time | None = field(default=None, kw_only=True)
    """Time limit of a combination in one pass [preset default: 300ms]."""
    bytes: Size | None = field(default=None, kw_only=True)
    """Byte limit of a combination in one pass, at least twice its queue [preset default: 128MiB]."""
    passes: int | None = field(default=None, kw_only=True)
    """Passes of each combination [preset default: 5]."""
    precise: str | None = field(default=None, kw_only=True)
    """Repeat each combination until its mean is known this well, such as 2%."""
    passes_max: int | None = field(default=None, kw_only=True)
    """At most this many passes of a combination with --precise [default: 20]."""
    order: str | None = field(default=None, kw_only=True)
    """Order of the combinations in each pass: shuffled or listed [preset default: shuffled]."""


@dataclass(frozen=True)
class Surface(Command):
    """Speed and access time over the address space."""

    command: ClassVar[str] = "surface"

    op: str | None = field(default=None, kw_only=True)
    """Operation: read, write, or mix:70 (70% reads)."""
    rwmixread: str | None = field(default=None, kw_only=True)
    """Same as --op mix:PERCENT, as fio spells it."""
    points: int | None = field(default=None, kw_only=True)
    """Points, evenly spaced over the address space [default: 100, fewer on small targets]."""
    bytes: Size | None = field(default=None, kw_only=True)
    """Bytes moved sequentially at each point [default: 8MiB, less on small targets]."""
    block: Size | None = field(default=None, kw_only=True)
    """Block size of the sequential I/O."""
    depth: int | None = field(default=None, kw_only=True)
    """Queue depth."""
    whole: bool = field(default=False, kw_only=True)
    """Cover every byte, in as many pieces as there are points."""
    span: Size | None = field(default=None, kw_only=True)
    """Address space to test, from the start [default: all; in a folder 1GiB, or what there is]."""
    probes: int | None = field(default=None, kw_only=True)
    """Number of single random accesses."""
    probe_block: Size | None = field(default=None, kw_only=True)
    """Block size of the random accesses."""
    burst: Size | None = field(default=None, kw_only=True)
    """Bytes to read repeatedly from the drive's own memory; 0 skips this."""
    retests: int | None = field(default=None, kw_only=True)
    """Repeated measurements of a slow region before it is reported, from 0 to 2."""
    time: Time | None = field(default=None, kw_only=True)
    """Time limit of a point; all random accesses together take at most ten times as long."""
    data: str | None = field(default=None, kw_only=True)
    """Data to write: random, zero, or what it compresses to, such as 0.5 for half."""


@dataclass(frozen=True)
class Fill(Command):
    """Fill the free space: is every part as fast, and are there stalls?"""

    command: ClassVar[str] = "fill"

    files: int | None = field(default=None, kw_only=True)
    """Number of files [default: as many as fill the free space, at most 1000]."""
    file_size: Size | None = field(default=None, kw_only=True)
    """Size of each file [default: the free space divided by --files]."""
    one_file: bool = field(default=False, kw_only=True)
    """Write one file as large as the free space, or as --file-size, measured in parts."""
    parts: int | None = field(default=None, kw_only=True)
    """Parts of the one file [default: one per 16MiB, at most 1000]."""
    from_: Size | None = field(default=None, kw_only=True)
    """Offset of the first file on a simulated drive."""
    passes: int | None = field(default=None, kw_only=True)
    """Passes: a number, or until-steady (until a pass is within 2% of the one before, at most 10)."""
    read_back: bool = field(default=False, kw_only=True)
    """Read everything back at the end."""
    block: Size | None = field(default=None, kw_only=True)
    """Block size of a write."""
    depth: int | None = field(default=None, kw_only=True)
    """Queue depth."""
    data: str | None = field(default=None, kw_only=True)
    """Data to write: random, zero, or what it compresses to, such as 0.5 for half."""
    stall: Time | None = field(default=None, kw_only=True)
    """Shortest wait that counts as a stall."""


@dataclass(frozen=True)
class Endure(Command):
    """Sustained writes: write cliff and steady state."""

    command: ClassVar[str] = "endure"

    test: Literal["loop", "snia-iops", "snia-throughput", "snia-latency", "snia-wsat"] | None = field(default=None, kw_only=True)
    """A looped benchmark, or a test of SNIA's Performance Test Specification."""
    span: Size | None = field(default=None, kw_only=True)
    """Address space to test: a size, a share such as 75%, or whole."""
    data: str | None = field(default=None, kw_only=True)
    """Data to write: random, zero, or what it compresses to, such as 0.5 for half [default: random]."""
    profile: str | None = field(default=None, kw_only=True)
    """Which tests each file gets [default: 2009]."""
    op: Sequence[str] | str | None = field(default=None, kw_only=True)
    """Operations: read, write, mix:70 (70% reads) [default: read,write]."""
    rwmixread: str | None = field(default=None, kw_only=True)
    """Same as --op mix:PERCENT, as fio spells it."""
    file_size: Size | None = field(default=None, kw_only=True)
    """File size [default: 1000MiB, scaled to the span]."""
    bytes: Size | None = field(default=None, kw_only=True)
    """Stop after the loop that has written this many bytes in all."""
    fills: int | None = field(default=None, kw_only=True)
    """Stop after this many drive fills [default: 15 with profile 2009, 13 with peak and real, 18 with default and
    nvme; 7 with reads only]."""
    trim: Literal["on", "off"] | None = field(default=None, kw_only=True)
    """Delete each file after its tests, so that the drive receives TRIM [default: off]."""
    time: Time | None = field(default=None, kw_only=True)
    """Time limit of a test; it also ends after moving its amount [default: 60s]."""
    round: Time | None = field(default=None, kw_only=True)
    """Time of one point of a round, 60s in the specification [default: 60s]."""
    rounds: int | None = field(default=None, kw_only=True)
    """At most this many rounds if no steady state is reached [default: 25; snia-wsat: 360]."""
    depth: int | None = field(default=None, kw_only=True)
    """Queue depth of each thread; snia-latency measures with 1 [default: 32]."""
    threads: int | None = field(default=None, kw_only=True)
    """Threads; snia-latency measures with 1 [default: 4]."""


@dataclass(frozen=True)
class Age(Command):
    """Measure, age the drive, and measure again: new against used."""

    command: ClassVar[str] = "age"

    recipe: str | None = field(default=None, kw_only=True)
    """How to age it: fill (write every address once), overwrite (fill, then random 4K writes), churn (create and
    delete small files)."""
    bytes: Size | None = field(default=None, kw_only=True)
    """How much to write while aging [default: as much as the span holds]."""
    span: Size | None = field(default=None, kw_only=True)
    """Address space to age [default: all of a simulated drive or of the free space; 1GiB for churn]."""
    random_span: Size | None = field(default=None, kw_only=True)
    """Address space for the random writes that are timed [default: 8GiB, at most a quarter of the span]."""
    time: Time | None = field(default=None, kw_only=True)
    """Time for the random writes of all passes together."""
    depth: int | None = field(default=None, kw_only=True)
    """Queue depth of the random writes."""
    passes: int | None = field(default=None, kw_only=True)
    """Passes of each measurement; more passes narrow the interval of a change."""
    idle: Time | None = field(default=None, kw_only=True)
    """Then leave the drive idle this long and measure once more: some drives recover."""
    trim: Literal["on", "off"] | None = field(default=None, kw_only=True)
    """Send TRIM for deleted files of the churn recipe (simulated drives)."""
    data: str | None = field(default=None, kw_only=True)
    """Data to write: random, zero, or what it compresses to, such as 0.5 for half."""


@dataclass(frozen=True)
class Data(Command):
    """Is compressible data faster, and how compressible are your files?"""

    command: ClassVar[str] = "data"

    steps: int | None = field(default=None, kw_only=True)
    """Steps from zeros to incompressible data, from 2 to 101."""
    op: Sequence[str] | str | None = field(default=None, kw_only=True)
    """Operations: write, read."""
    pattern: Sequence[str] | str | None = field(default=None, kw_only=True)
    """Access patterns: sequential, random."""
    block: Sequence[Size] | Size | None = field(default=None, kw_only=True)
    """Block size, one for all patterns or one for each [default: 1MiB sequential, 4KiB random]."""
    depth: Sequence[int] | int | str | None = field(default=None, kw_only=True)
    """Queue depth, one for all patterns or one for each [default: 8 sequential, 32 random]."""
    span: Size | None = field(default=None, kw_only=True)
    """Address space to test, divided among the steps [default: 1GiB, or what there is]."""
    passes: int | None = field(default=None, kw_only=True)
    """Passes, each through the steps in another order."""
    time: Time | None = field(default=None, kw_only=True)
    """Time limit of a step in one pass; it also ends after moving its part of the span."""
    idle: Time | None = field(default=None, kw_only=True)
    """Idle time before each step."""
    files: Sequence[str | PathLike[str]] | str | PathLike[str] | None = field(default=None, kw_only=True)
    """Also read the files in this folder: how compressible are they, and what speed do they get?"""
    sample: Size | None = field(default=None, kw_only=True)
    """Read at most this much of your files' contents."""
    scan_time: Time | None = field(default=None, kw_only=True)
    """Time limit of reading folders; what was read until then counts."""
    cross_file_systems: bool = field(default=False, kw_only=True)
    """Also read file systems mounted below the folder."""
    scan_only: bool = field(default=False, kw_only=True)
    """Read the files and measure nothing."""
    advertised: Sequence[str] | str | None = field(default=None, kw_only=True)
    """Rated speeds: read=550MB/s,write=500MB/s [default: a simulated drive's own]."""


@dataclass(frozen=True)
class Cache(Command):
    """How much of the speed is the page cache or the drive's cache?"""

    command: ClassVar[str] = "cache"

    pattern: Sequence[str] | str | None = field(default=None, kw_only=True)
    """Access patterns: sequential, random."""
    block: Sequence[Size] | Size | None = field(default=None, kw_only=True)
    """Block size, one for all patterns or one for each [default: 1MiB sequential, 4KiB random]."""
    depth: Sequence[int] | int | str | None = field(default=None, kw_only=True)
    """Queue depth, one for all patterns or one for each [default: 1]."""
    span: Size | None = field(default=None, kw_only=True)
    """Address space to test [default: 256MiB, or what there is]."""
    passes: int | None = field(default=None, kw_only=True)
    """Passes of each test."""
    time: Time | None = field(default=None, kw_only=True)
    """Time limit of a pass; it also ends after moving the span once, random I/O a sixteenth of it."""
    data: str | None = field(default=None, kw_only=True)
    """Data to write: random, zero, or what it compresses to, such as 0.5 for half."""


@dataclass(frozen=True)
class Trim(Command):
    """Does TRIM reach the flash, and what does it gain?"""

    command: ClassVar[str] = "trim"

    bytes: Size | None = field(default=None, kw_only=True)
    """Bytes to write, trim and read back, beside as many that are kept [default: 32MiB]."""
    wait: Time | None = field(default=None, kw_only=True)
    """How long to wait for a file system that sends TRIM on its own, and for the drive to act on it."""
    probes: int | None = field(default=None, kw_only=True)
    """Timed reads of trimmed and of kept data, each."""
    no_raw: bool = field(default=False, kw_only=True)
    """Do not read the device below the folder."""
    no_worth: bool = field(default=False, kw_only=True)
    """Skip measuring how much TRIM gains."""
    span: Size | None = field(default=None, kw_only=True)
    """Address space for measuring the gain, half of it trimmed [default: up to 64GiB of a simulated drive; in a
    folder 1GiB, or twice --bytes if that is given]."""
    time: Time | None = field(default=None, kw_only=True)
    """Time of each pass of random writes."""
    depth: int | None = field(default=None, kw_only=True)
    """Queue depth of the random writes."""
    passes: int | None = field(default=None, kw_only=True)
    """Passes with TRIM, and as many without."""


@dataclass(frozen=True)
class Model(Command):
    """Fit an access time model: seek, throughput, parallelism."""

    command: ClassVar[str] = "model"

    op: Literal["read", "write", "both"] | None = field(default=None, kw_only=True)
    """read, write or both [default: both, or read where the target is read-only]."""
    depth: Sequence[int] | int | str | None = field(default=None, kw_only=True)
    """Queue depths of small random requests, or ranges such as 1..64 [default: 1..64]."""
    longest: Size | None = field(default=None, kw_only=True)
    """Longest request, a power of two."""
    span: Size | None = field(default=None, kw_only=True)
    """Address space to test, from the start [default: all; in a folder 384MiB, or what there is]."""
    bytes: Size | None = field(default=None, kw_only=True)
    """Write at most this much, and read at most as much [default: 8GiB, in a folder 1GiB]."""
    time: Time | None = field(default=None, kw_only=True)
    """Start no new measurement after this time [default: 10min, in a folder 45s]."""
    visit: Time | None = field(default=None, kw_only=True)
    """Time limit of one measurement [default: 3s, in a folder 500ms]."""
    data: str | None = field(default=None, kw_only=True)
    """Data to write: random, zero, or what it compresses to, such as 0.5 for half."""
    advertised: Sequence[str] | str | None = field(default=None, kw_only=True)
    """Rated speeds: read=550MB/s,write=500MB/s [default: a simulated drive's own]."""


@dataclass(frozen=True)
class Replay(Command):
    """Replay a recorded trace: would this drive be faster?"""

    command: ClassVar[str] = "replay"

    trace: str | PathLike[str] | None = field(default=None, kw_only=True)
    """The trace, in any format that `likenew import trace` reads."""
    format: str | None = field(default=None, kw_only=True)
    """Its format, if it is not recognized."""
    volume: str | None = field(default=None, kw_only=True)
    """Which volume, if the trace holds several."""
    mode: str | None = field(default=None, kw_only=True)
    """When I/Os start: dependent (after those that had ended before, plus think time), timed (as recorded), fast
    (as soon as possible)."""
    speed: str | None = field(default=None, kw_only=True)
    """Speed-up of the recorded times."""
    idle_max: Time | None = field(default=None, kw_only=True)
    """Shorten pauses without I/O to this [default: keep them]."""
    depth: int | None = field(default=None, kw_only=True)
    """Largest queue depth."""
    fit: str | None = field(default=None, kw_only=True)
    """Where recorded addresses beyond the target go: modulo (wrap around) or scale (in proportion)."""
    span: Size | None = field(default=None, kw_only=True)
    """Address space to use, from the start [default: all; in a folder what the trace reaches, at most 8GiB]."""
    reads_only: bool = field(default=False, kw_only=True)
    """Replay reads only."""
    no_prepare: bool = field(default=False, kw_only=True)
    """Do not write beforehand what the trace reads."""
    data: str | None = field(default=None, kw_only=True)
    """Data to write: random, zero, or what it compresses to, such as 0.5 for half."""
    passes: int | None = field(default=None, kw_only=True)
    """Number of replays."""
    time: Time | None = field(default=None, kw_only=True)
    """Time limit of a replay."""


@dataclass(frozen=True)
class Apps(Command):
    """Speed as applications see it, from published traces."""

    command: ClassVar[str] = "apps"

    app: Sequence[str] | str | None = field(default=None, kw_only=True)
    """An application, a group, or your own FILE.toml; can be given several times [default: pcmark8]."""
    passes: int | None = field(default=None, kw_only=True)
    """Runs of each application; with --consistency per phase [default: 3, with --consistency 1]."""
    scale: str | None = field(default=None, kw_only=True)
    """Share of each application's I/Os to replay [default: all, or what fits]."""
    span: Size | None = field(default=None, kw_only=True)
    """Address space that applications use [default: 4GiB, at most a quarter of the target or of --writing-span]."""
    time: Time | None = field(default=None, kw_only=True)
    """Time limit of one application in one pass."""
    think: bool = field(default=False, kw_only=True)
    """Keep the published think times, where an application has them."""
    data: str | None = field(default=None, kw_only=True)
    """Data to write: random, zero, or what it compresses to, such as 0.5 for half."""
    consistency: bool = field(default=False, kw_only=True)
    """Also measure how the score holds up under hours of writing: the phases of PCMark 8's consistency test."""
    minutes: str | None = field(default=None, kw_only=True)
    """Scale of all phase lengths: 1 is the published 10 to 45 minutes each, about 8 hours in all; 0.1 takes 48
    minutes."""
    writing_span: Size | None = field(default=None, kw_only=True)
    """Address space for the writing phases [default: all of it]."""


@dataclass(frozen=True)
class Xray(Command):
    """What is inside: medium, mapping, dies, caches, over-provisioning."""

    command: ClassVar[str] = "xray"

    span: Size | None = field(default=None, kw_only=True)
    """Address space to test, from the start [default: all; in a folder 1GiB, or what there is]."""
    bytes: Size | None = field(default=None, kw_only=True)
    """Write at most this much [default: four times the span]."""
    only: Sequence[str] | str | None = field(default=None, kw_only=True)
    """Run only these experiments; `likenew help xray` lists them [default: all]."""


@dataclass(frozen=True)
class Verify(Command):
    """Is the capacity real, and does data read back as written?"""

    command: ClassVar[str] = "verify"

    span: Size | None = field(default=None, kw_only=True)
    """Address space to verify, from the start [default: all; in a folder its free space]."""
    passes: int | None = field(default=None, kw_only=True)
    """How often everything is written and read back."""
    quick: bool = field(default=False, kw_only=True)
    """Write only a few hundred blocks: finds most counterfeits in a minute, proves nothing else."""
    full: bool = field(default=False, kw_only=True)
    """Write and read everything even after damage was found."""
    read_only: bool = field(default=False, kw_only=True)
    """Write nothing: read what an earlier run with this --seed wrote to a device."""
    probes: int | None = field(default=None, kw_only=True)
    """Random addresses to try first [default: 400; none in a folder, fewer on small drives]."""
    parts: int | None = field(default=None, kw_only=True)
    """Parts per pass."""
    file_size: Size | None = field(default=None, kw_only=True)
    """Size of the files in a folder [default: about 1GiB]."""
    block: Size | None = field(default=None, kw_only=True)
    """Block size."""
    depth: int | None = field(default=None, kw_only=True)
    """Queue depth."""
    idle: Time | None = field(default=None, kw_only=True)
    """Idle time between writing and reading."""
    cache: Size | None = field(default=None, kw_only=True)
    """Largest cache the drive may have; less data than that proves nothing."""


@dataclass(frozen=True)
class Workloads:
    """Workloads of your own, one after the other.

    >>> from likenew import Random, SimulatedDrive, Stream, Workload
    >>> mail = Workload("mail", [Stream("mix:70", "4k", Random("0..64MiB"), depth=8)], elapsed=2)
    >>> Workloads(SimulatedDrive("tiny-flash"), [mail]).plan().options["workload"][0]["name"]
    'mail'
    """

    target: Target
    workloads: Sequence[Workload]
    seed: int = field(default=0, kw_only=True)

    def plan(self) -> Plan:
        """The plan."""
        name, files = target_of(self.target)
        return Plan("run", name, self.seed, {"workload": [workload.to_dict() for workload in self.workloads]}, files)

    def on(self, target: Target) -> Workloads:
        """The same workloads on another target."""
        return Workloads(target, self.workloads, seed=self.seed)
