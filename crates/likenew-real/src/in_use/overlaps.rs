//! Everything that reaches a target's bytes, and who uses it, found in a snapshot of what the system shows.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use likenew_core::units::Nanos;

use super::{SYSTEM, Target, system_folder};
use crate::block::{BlockDevice, DeviceNumber, entries, open_path};
use crate::hold::Tries;
use crate::mounts::{self, Backing, KERNEL_FILE_SYSTEMS, Mount, REMOTE, Store, UnknownBacking, backing_path};
use crate::openers::{self, Access, Program, fuse_servers_have_files, opener_of, writer_of_shown};
use crate::wording::consent as wording;

/// How many times in a row another program must be seen with a device open, or a user be unknown, before that
/// counts. The system's own helpers open devices for a moment. Chosen: 0.2 s in all, in pauses that are short beside
/// what a user would notice.
pub(super) const PASSING: Tries = Tries { count: 20, pause: Nanos::from_millis(10) };

/// Major number of `/dev/mtdblockN`, whose minor number is that of the MTD device
/// (Documentation/admin-guide/devices.txt of the Linux sources).
const MTD_BLOCK_MAJOR: u32 = 31;

/// How a device or file reaches the target's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum RelationKind {
    /// Only by partitions: the kernel keeps their claims separate itself.
    Partition,
    /// Over a loop device, or the same disk by another path: the kernel does not know that these share bytes.
    Loop,
    /// Over a mapping, which claims what it is built on.
    Mapping,
}

/// A device or file that reaches some of the target's bytes.
pub(super) struct Overlap {
    store: Store,
    ranges: Vec<Range<u64>>,
    /// Whether it contains the target; otherwise it is built over the target's bytes.
    is_below: bool,
    relation_kind: RelationKind,
    /// Whether a loop device, or a second path to the same disk, lies between it and the target. A claim on
    /// the target does not reach beyond these.
    is_shared: bool,
    name: String,
    /// What the overlap has to do with the target, unless its name says so.
    relation: String,
}

impl Overlap {
    /// Something that contains the target.
    fn new(
        store: Store,
        range: Range<u64>,
        relation_kind: RelationKind,
        is_shared: bool,
        name: String,
        relation: String,
    ) -> Self {
        let (ranges, is_below) = (vec![range], true);
        Self { store, ranges, is_below, relation_kind, is_shared, name, relation }
    }

    /// The name and the relation, as the subject of a sentence.
    pub(super) fn subject(&self) -> String {
        match &*self.relation {
            "" => self.name.clone(),
            relation => wording::related(&self.name, relation),
        }
    }

    /// The name and the relation, at the end of a sentence.
    fn object(&self) -> String {
        self.subject().trim_end_matches(',').to_owned()
    }
}

/// A use of the target's bytes. The lowest rank is reported first.
struct Use {
    rank: Rank,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    System,
    Mount,
    MountElsewhere,
    Swap,
    Holder,
    Loop,
    Unknown,
}

/// Everything that reaches a target's bytes.
pub(super) struct Overlaps<'a> {
    snapshot: &'a Snapshot,
    overlaps: Vec<Overlap>,
    uses: Vec<Use>,
    /// The size in bytes of each file that holds the target's bytes, if the size is known.
    file_sizes: Vec<Option<u64>>,
}

fn overlap(one: &Range<u64>, other: &Range<u64>) -> Option<Range<u64>> {
    let both = one.start.max(other.start)..one.end.min(other.end);
    (both.start < both.end).then_some(both)
}

impl<'a> Overlaps<'a> {
    pub(super) fn find(snapshot: &'a Snapshot, target: &Target) -> Self {
        let mut overlaps = Self { snapshot, overlaps: Vec::new(), uses: Vec::new(), file_sizes: Vec::new() };
        for range in &target.ranges {
            let (store, range, name) = (target.store, range.clone(), target.name.clone());
            let itself = Overlap::new(store, range, RelationKind::Partition, false, name, String::new());
            overlaps.descend(itself, &target.name);
        }
        if matches!(target.store, Store::File { .. }) {
            overlaps.visit_file(target.store, target.path.as_deref(), !target.is_held);
        }
        for index in 0..overlaps.overlaps.len() {
            overlaps.ascend(index);
        }
        for index in 0..overlaps.overlaps.len() {
            overlaps.visit(index);
        }
        overlaps.find_unknown_loops();
        if !target.is_held {
            overlaps.find_other_names();
        }
        overlaps.uses.sort_by_key(|usage| usage.rank);
        overlaps
    }

    fn node(&self, store: Store) -> Option<(DeviceNumber, &'a Node)> {
        let Store::Device(number) = store else { return None };
        Some((number, self.snapshot.nodes.get(&number)?))
    }

    /// Adds an overlap that is not yet known, and returns its index.
    fn add(&mut self, new: Overlap) -> Option<usize> {
        let range = new.ranges[0].clone();
        let known = self.overlaps.iter().position(|known| known.store == new.store);
        let Some(index) = known else {
            self.overlaps.push(new);
            return Some(self.overlaps.len() - 1);
        };
        let known = &mut self.overlaps[index];
        let is_new = known.ranges.iter().all(|known| known.start > range.start || known.end < range.end);
        // Anything above what is below the target has been visited already, or will be.
        if !is_new || known.is_below && !new.is_below {
            return None;
        }
        known.ranges.push(range);
        known.relation_kind = known.relation_kind.min(new.relation_kind);
        known.is_shared |= new.is_shared;
        Some(index)
    }

    /// Adds an overlap that contains the target, and everything below.
    fn descend(&mut self, overlap: Overlap, target: &str) {
        let (store, range, kind, relation) =
            (overlap.store, overlap.ranges[0].clone(), overlap.relation_kind, overlap.relation.clone());
        let was_shared = overlap.is_shared;
        if self.add(overlap).is_none() {
            return;
        }
        let Some((number, node)) = self.node(store) else { return };
        let shifted = |by: u64| range.start.saturating_add(by)..range.end.saturating_add(by);
        let over_loop = kind.max(RelationKind::Loop);
        if let Some((disk, start)) = node.part_of {
            let (below, name) = (Store::Device(disk), self.name_of(disk));
            let lower = Overlap::new(below, shifted(start), kind, was_shared, name, relation);
            self.descend(lower, target);
        }
        if let Ok(Some(backing)) = &node.backing {
            let name = node.device.attribute("loop/backing_file");
            let name = name.unwrap_or_else(|| wording::backing_of(&node.name));
            let relation = wording::target_lies_on_it(target);
            let range = shifted(backing.window.start);
            let lower = Overlap::new(backing.store, range, over_loop, true, name, relation);
            self.descend(lower, target);
            if matches!(backing.store, Store::File { .. }) {
                self.visit_file(backing.store, backing_path(&node.device).as_deref(), false);
            }
        }
        for slave in &node.slaves {
            let (name, relation) = (self.name_of(*slave), wording::target_is_built_on_it(target));
            let (below, whole) = (Store::Device(*slave), self.all_of(*slave));
            let lower = Overlap::new(below, whole, RelationKind::Mapping, was_shared, name, relation);
            self.descend(lower, target);
        }
        for alias in self.snapshot.aliases(number) {
            let wwid = node.wwid.as_deref().unwrap_or_default();
            let relation = wording::same_drive(&node.name, wwid);
            let (below, name) = (Store::Device(alias), self.name_of(alias));
            self.descend(Overlap::new(below, range.clone(), over_loop, true, name, relation), target);
        }
    }

    /// A file that holds the target's bytes: another file system may show these by another name.
    fn visit_file(&mut self, store: Store, path: Option<&Path>, may_be_remote: bool) {
        let kind = self.snapshot.shown_by(store, path);
        if let Some(kind) = kind.filter(|kind| !may_be_remote || !REMOTE.contains(&&**kind)) {
            self.uses.push(Use { rank: Rank::Unknown, text: wording::beneath_unknown(&kind) });
        }
        let path = path.filter(|path| Store::at(path) == Some(store));
        // For a target that is a file, this was checked before, if the file is to be overwritten.
        let is_device = matches!(self.overlaps[0].store, Store::Device(_));
        let path_below = path.filter(|_| is_device);
        let mount = path_below.and_then(|path| Some((path, Mount::containing(open_path(path).ok()?)?)));
        if let Some(folder) = mount.and_then(|(path, mount)| system_folder(path, &mount)) {
            self.uses.push(Use { rank: Rank::System, text: wording::system_file(folder) });
        }
        self.file_sizes.push(path.and_then(|path| Some(path.metadata().ok()?.len())));
    }

    /// Records who may reach the bytes of a file by its name in another file system.
    fn find_other_names(&mut self) {
        if self.file_sizes.is_empty() {
            return;
        }
        let is_known =
            |number: &DeviceNumber| self.overlaps.iter().any(|known| known.store == Store::Device(*number));
        let mut others = self.snapshot.nodes.iter().filter(|(number, _)| !is_known(number));
        let text = others.find_map(|(_, node)| {
            let backing = node.backing.as_ref().ok()?.as_ref()?;
            let kind = self.snapshot.shown_by(backing.store, backing_path(&node.device).as_deref())?;
            Some(wording::loop_of_other_name(&node.name, &kind))
        });
        let text = text.or_else(|| Some(wording::image_unknown(&self.snapshot.unknown_image()?.point)));
        self.uses.extend(text.map(|text| Use { rank: Rank::Unknown, text }));
    }

    fn name_of(&self, number: DeviceNumber) -> String {
        let node = self.snapshot.nodes.get(&number);
        node.map_or_else(|| format!("{}:{}", number.major, number.minor), |node| node.name.clone())
    }

    fn all_of(&self, number: DeviceNumber) -> Range<u64> {
        0..self.snapshot.nodes.get(&number).map_or(u64::MAX, |node| node.bytes.max(1))
    }

    /// Adds what is built over the bytes of an overlap.
    fn ascend(&mut self, index: usize) {
        let Overlap { store, ranges, .. } = &self.overlaps[index];
        let (store, ranges) = (*store, ranges.clone());
        for range in ranges {
            if let Some((number, node)) = self.node(store) {
                for (part, window) in self.snapshot.partitions(number) {
                    let relation = self.overlaps[index].relation.clone();
                    self.rise(index, part, &window, &range, self.overlaps[index].relation_kind, relation);
                }
                for holder in node.holders.clone() {
                    self.rise_to_holder(index, holder);
                }
            }
            for (device, window) in self.snapshot.loops(store) {
                self.rise_to_loop(index, device, &window, &range);
            }
        }
    }

    /// Adds a device over a window of an overlap, as far as the two share bytes. Returns whether they do, and
    /// the device does not contain the target.
    fn rise(
        &mut self,
        from: usize,
        to: DeviceNumber,
        window: &Range<u64>,
        range: &Range<u64>,
        relation_kind: RelationKind,
        relation: String,
    ) -> bool {
        let Some(both) = overlap(window, range) else { return false };
        if self.overlaps.iter().any(|known| known.is_below && known.store == Store::Device(to)) {
            return false;
        }
        let inside = both.start - window.start..both.end - window.start;
        let is_shared = self.overlaps[from].is_shared || relation_kind == RelationKind::Loop;
        let relation_kind = relation_kind.max(self.overlaps[from].relation_kind);
        let (store, name) = (Store::Device(to), self.name_of(to));
        let new = Overlap::new(store, inside, relation_kind, is_shared, name, relation);
        if let Some(index) = self.add(Overlap { is_below: false, ..new }) {
            self.ascend(index);
        }
        true
    }

    fn rise_to_loop(&mut self, from: usize, device: DeviceNumber, window: &Range<u64>, range: &Range<u64>) {
        let parent = &self.overlaps[from];
        let (is_own, name) = (parent.relation_kind == RelationKind::Partition, parent.name.clone());
        let relation = if is_own { wording::lies_on(&name) } else { wording::covers_the_same(&name) };
        if !self.rise(from, device, window, range, RelationKind::Loop, relation) {
            return;
        }
        // A loop device that was attached for its partitions is in use when they are.
        if !is_own && self.snapshot.partitions(device).next().is_some() {
            return;
        }
        let loops = self.name_of(device);
        let is_device = matches!(self.overlaps[from].store, Store::Device(_));
        let text = match (is_own, is_device) {
            (true, true) => wording::carries_loop(&name, &loops),
            (true, false) => wording::loop_attached(&loops),
            (false, _) => wording::loop_attached_to_same_bytes(&loops, &name),
        };
        self.uses.push(Use { rank: Rank::Loop, text });
    }

    /// Adds what is built on an overlap, except for the target. Volumes of one manager on the same device
    /// never overlap, as that is the manager's purpose.
    fn rise_to_holder(&mut self, from: usize, holder: DeviceNumber) {
        let Some((slave, _)) = self.node(self.overlaps[from].store) else { return };
        let own = self.snapshot.nodes.iter().filter(|(number, node)| {
            let is_below = |store| self.overlaps.iter().any(|known| known.is_below && known.store == store);
            node.slaves.contains(&slave) && is_below(Store::Device(**number))
        });
        let (on, holds) = (self.snapshot.nodes.get(&slave), self.snapshot.nodes.get(&holder));
        let own: Vec<&Node> = own.map(|(_, node)| node).collect();
        let is_apart = |own: &&Node| holds.zip(on).is_some_and(|(other, on)| are_disjoint(own, other, on));
        if !own.is_empty() && own.iter().all(is_apart) {
            return;
        }
        let (whole, subject) = (self.all_of(holder), self.overlaps[from].object());
        let relation = wording::built_on(&subject);
        if self.rise(from, holder, &whole, &whole, RelationKind::Mapping, relation) {
            let holder = self.name_of(holder);
            let subject = self.overlaps[from].subject();
            let text = wording::carries(&subject, &holder);
            self.uses.push(Use { rank: Rank::Holder, text });
        }
    }

    /// Records who uses an overlap directly.
    fn visit(&mut self, index: usize) {
        let Overlap { store, is_below, .. } = self.overlaps[index];
        let is_target = index == 0;
        let (subject, object) = (self.overlaps[index].subject(), self.overlaps[index].object());
        let mut uses = Vec::new();
        let mut note = |rank, text| uses.push(Use { rank, text });
        if self.snapshot.swaps.contains(&store) {
            note(Rank::Swap, wording::swap(&subject));
        }
        let runs = || wording::system_runs_from(&object);
        for mounted in self.snapshot.mounts.iter().filter(|mounted| mounted.stores.contains(&store)) {
            let point = &mounted.point;
            match &mounted.program {
                None if SYSTEM.contains(&&**point) => note(Rank::System, runs()),
                None => note(Rank::Mount, wording::mounted(&subject, point)),
                Some(program) => note(
                    Rank::MountElsewhere,
                    wording::mounted_elsewhere(&subject, point, program, program.process),
                ),
            }
        }
        if let Some((number, node)) = self.node(store) {
            if (is_target || !is_below) && self.snapshot.system.contains(node.device.folder()) {
                note(Rank::System, runs());
            }
            if let Some(kind) = self.snapshot.file_systems.get(&node.name) {
                note(Rank::MountElsewhere, wording::mounted_out_of_sight(&subject, kind));
            }
            if number.major == MTD_BLOCK_MAJOR && self.snapshot.ubi.contains(&number.minor) {
                note(Rank::Holder, wording::ubi(&subject));
            }
            if node.is_bcache() {
                note(Rank::Holder, wording::bcache(&subject, &node.name));
            }
        }
        self.uses.extend(uses);
    }

    /// Records a loop device that may reach these bytes, or through which the target reaches its own.
    fn find_unknown_loops(&mut self) {
        let stores: Vec<Store> = self.overlaps.iter().map(|overlap| overlap.store).collect();
        let nodes = stores.iter().filter_map(|store| Some(self.node(*store)?.1));
        let mut unknown = nodes.filter(|node| node.backing.is_err());
        let text = match unknown.next() {
            Some(Node { name, backing: Err(UnknownBacking::Dead), .. }) => wording::dead_loop(name),
            Some(node) => wording::loop_backing_unknown(&node.name),
            None => match self.snapshot.unknown_loop(&stores) {
                Some(node) => wording::loop_may_share(&node.name),
                None => return,
            },
        };
        self.uses.push(Use { rank: Rank::Unknown, text });
    }

    /// The devices that a claim on the target does not keep others from, without those that a layer below has
    /// claimed itself.
    pub(super) fn to_claim(&self) -> Vec<(DeviceNumber, &Overlap)> {
        let is_below = |number: &DeviceNumber| {
            self.overlaps.iter().any(|known| known.is_below && known.store == Store::Device(*number))
        };
        let is_held = |node: &Node| node.holders.iter().any(is_below);
        let target = self.overlaps.first().map(|target| target.store);
        let shared =
            self.overlaps.iter().filter(|overlap| overlap.is_shared && Some(overlap.store) != target);
        let devices = shared.filter_map(|overlap| {
            let (number, node) = self.node(overlap.store)?;
            let disk = node.part_of.and_then(|(disk, _)| self.snapshot.nodes.get(&disk));
            let is_free = !is_held(node) && !disk.is_some_and(is_held);
            is_free.then_some((number, overlap))
        });
        devices.collect()
    }

    /// Whether all that speaks against a write is that a user cannot be determined.
    pub(super) fn is_unsure(&self) -> bool {
        self.uses.first().is_some_and(|usage| usage.rank == Rank::Unknown)
    }

    /// Who uses these bytes, as far as the kernel's own lists show.
    pub(super) fn structural_use(&self) -> Option<String> {
        self.uses.first().map(|usage| usage.text.clone())
    }

    /// A program that writes to one of these devices or files, as virtual machines do, or to a file that may
    /// be one by another name. Nothing else in the system shows such a program.
    pub(super) fn program(&self) -> Option<String> {
        let candidates: Vec<Store> = self.overlaps.iter().map(|overlap| overlap.store).collect();
        let showing =
            if self.file_sizes.is_empty() { Vec::new() } else { self.snapshot.showing_others().collect() };
        let seek = || {
            let opened =
                opener_of(&candidates, Access::Writing).map(|(program, store)| (program, Err(store)));
            let shown = || {
                let (program, mount) = writer_of_shown(&showing, &self.file_sizes)?;
                Some((program, Ok(mount)))
            };
            opened.or_else(shown)
        };
        // Some programs open a device only for a moment, though for writing (losetup, udev's helpers).
        let looks = Tries { count: PASSING.count + 1, ..PASSING };
        match looks.until_free(Option::is_some, seek)? {
            (program, Ok(mount)) => Some(wording::open_by_other_name(&program, &mount.point, &mount.kind)),
            (program, Err(store)) => {
                let subject =
                    self.overlaps.iter().find(|overlap| overlap.store == store).map(Overlap::subject)?;
                Some(wording::open_for_writing(&program, &subject))
            }
        }
    }
}

/// Whether two devices on the same one never share a byte: logical volumes of one manager, and partitions of
/// one mapping. Snapshots share what is below them, and fill up when that is written to.
fn are_disjoint(one: &Node, other: &Node, on: &Node) -> bool {
    let (Some(first), Some(second)) = (&one.mapping, &other.mapping) else {
        return [one, other].iter().all(|node| node.name.starts_with("bcache"));
    };
    let part = |text: &str| {
        let (number, rest) = text.strip_prefix("part")?.split_once('-')?;
        Some((number.to_owned(), rest.to_owned()))
    };
    if let (Some((first, of_first)), Some((second, of_second))) = (part(first), part(second)) {
        return of_first == of_second && first != second;
    }
    let is_origin = on.mapping.as_ref().is_some_and(|text| text.ends_with("-real"));
    !is_origin && [first, second].iter().all(|text| text.starts_with("LVM-"))
}

// A snapshot of everything that the system shows about who uses which block device.

/// The block devices of a machine, and their users. For a machine made from files, this is only what /sys shows.
#[derive(Default)]
pub(super) struct Snapshot {
    pub(super) nodes: BTreeMap<DeviceNumber, Node>,
    pub(super) mounts: Vec<MountUse>,
    /// The mounts as the kernel lists them.
    mount_list: Vec<Mount>,
    pub(super) swaps: Vec<Store>,
    /// Folders in /sys of the devices that the system runs from.
    pub(super) system: HashSet<PathBuf>,
    /// The kind of file system on a device, from the folders that file systems have in /sys while they are
    /// mounted, wherever that is.
    pub(super) file_systems: BTreeMap<String, String>,
    /// Numbers of the flash devices (MTD) of which UBI has taken some part. Their block devices do not show this.
    pub(super) ubi: HashSet<u32>,
}

/// One block device.
pub(super) struct Node {
    pub(super) device: BlockDevice,
    pub(super) name: String,
    pub(super) bytes: u64,
    /// For a partition: its disk, and where it begins there.
    pub(super) part_of: Option<(DeviceNumber, u64)>,
    /// Devices built on this one.
    pub(super) holders: Vec<DeviceNumber>,
    /// Devices that this one is built on.
    pub(super) slaves: Vec<DeviceNumber>,
    /// What a loop device is attached to.
    pub(super) backing: Result<Option<Backing>, UnknownBacking>,
    /// The identifier of a mapping, which says what it belongs to.
    pub(super) mapping: Option<String>,
    /// The world wide name of a disk, equal on all paths to it.
    pub(super) wwid: Option<String>,
}

/// A mount, and the devices and files that it writes to.
pub(super) struct MountUse {
    pub(super) stores: Vec<Store>,
    pub(super) point: String,
    /// A program that sees the mount, if this process does not.
    pub(super) program: Option<Program>,
}

impl Snapshot {
    /// The present state of this machine.
    ///
    /// # Errors
    /// The list that cannot be read: nothing that it would show is known to be unused.
    pub(super) fn now() -> Result<Self, String> {
        let unread = |list: &'static str| move |error: io::Error| wording::list_unreadable(list, &error);
        let mut snapshot = Self::read(Path::new("/sys")).map_err(unread("/sys/dev/block"))?;
        let here =
            mounts::all().map_err(unread("/proc/self/mountinfo"))?.into_iter().map(|mount| (mount, None));
        let elsewhere = openers::mounts_elsewhere().map_err(unread(wording::OTHER_MOUNTINFO))?;
        let elsewhere = elsewhere.into_iter().map(|(mount, program)| (mount, Some(program)));
        snapshot.take_mounts(here.chain(elsewhere), Path::new("/sys"));
        snapshot.swaps = mounts::swaps().map_err(unread("/proc/swaps"))?;
        snapshot.system = super::system_devices();
        Ok(snapshot)
    }

    /// The devices in a /sys, with only the uses that /sys itself shows.
    ///
    /// # Errors
    /// It lists no devices.
    pub(super) fn read(sys: &Path) -> io::Result<Self> {
        let links = fs::read_dir(sys.join("dev/block"))?.flatten();
        let folders = links.filter_map(|link| fs::canonicalize(link.path()).ok());
        let nodes = folders.filter_map(|folder| {
            let device = BlockDevice::at(folder);
            Some((device.number()?, Node::read(device)?))
        });
        let (file_systems, ubi) = (file_systems(sys), ubi_devices(sys));
        Ok(Self { nodes: nodes.collect(), file_systems, ubi, ..Self::default() })
    }

    pub(super) fn take_mounts(&mut self, mounts: impl Iterator<Item = (Mount, Option<Program>)>, sys: &Path) {
        let pools: Vec<Vec<DeviceNumber>> = mounts::btrfs_pools(sys)
            .map(|pool| pool.iter().filter_map(BlockDevice::number).collect())
            .collect();
        for (mount, program) in mounts {
            // A file system of several devices shows none of their numbers; it names one of them, or all with
            // colons between.
            let named = mount.source.as_bytes().split(|byte| *byte == b':');
            let named =
                named.map(|name| Path::new(OsStr::from_bytes(name))).filter(|source| source.is_absolute());
            let mut stores: Vec<Store> = named.filter_map(Store::at).collect();
            stores.push(Store::Device(mount.device));
            let pool = pools.iter().filter(|pool| {
                mount.kind == "btrfs" && pool.iter().any(|number| stores.contains(&Store::Device(*number)))
            });
            let members: Vec<Store> = pool.flatten().copied().map(Store::Device).collect();
            stores.extend(members);
            self.mounts.push(MountUse { stores, point: mount.point.clone(), program });
            self.mount_list.push(mount);
        }
        // btrfs file systems that are mounted where we cannot see them.
        for number in pools.iter().flatten() {
            if let Some(node) = self.nodes.get(number) {
                self.file_systems.entry(node.name.clone()).or_insert_with(|| "btrfs".to_owned());
            }
        }
    }

    /// The partitions of a device, each with its range on the device.
    pub(super) fn partitions(
        &self,
        device_number: DeviceNumber,
    ) -> impl Iterator<Item = (DeviceNumber, Range<u64>)> {
        self.nodes.iter().filter_map(move |(number, node)| {
            let (disk, start) = node.part_of?;
            (disk == device_number).then(|| (*number, start..start.saturating_add(node.bytes)))
        })
    }

    /// The loop devices that are attached to a store, each with its range in the store.
    pub(super) fn loops(&self, on: Store) -> impl Iterator<Item = (DeviceNumber, Range<u64>)> {
        self.nodes.iter().filter_map(move |(number, node)| {
            let backing = node.backing.as_ref().ok()?.as_ref().filter(|backing| backing.store == on)?;
            Some((*number, backing.window.clone()))
        })
    }

    /// A loop device of unknown backing file, which may be on one of these stores.
    pub(super) fn unknown_loop(&self, on: &[Store]) -> Option<&Node> {
        let is_file = on.iter().any(|store| matches!(store, Store::File { .. }));
        let may_be = |node: &&Node| match node.backing {
            Err(UnknownBacking::File) => is_file,
            Err(UnknownBacking::FileOrDevice) => true,
            Ok(_) | Err(UnknownBacking::Dead) => false,
        };
        self.nodes.values().find(may_be)
    }

    /// The same disk by other paths.
    pub(super) fn aliases(&self, device_number: DeviceNumber) -> impl Iterator<Item = DeviceNumber> {
        let known = self.nodes.get(&device_number).and_then(|node| Some((node.wwid.clone()?, node.bytes)));
        self.nodes.iter().filter_map(move |(number, node)| {
            let (wwid, bytes) = known.as_ref()?;
            (*number != device_number && node.wwid.as_ref() == Some(wwid) && node.bytes == *bytes)
                .then_some(*number)
        })
    }
}

impl Node {
    fn read(device: BlockDevice) -> Option<Self> {
        let bytes = device.bytes()?;
        let is_partition = device.is_partition();
        let part_of = || Some((device.disk().number()?, device.range()?.0));
        let numbers = |devices: Vec<BlockDevice>| devices.iter().filter_map(BlockDevice::number).collect();
        let backing = Backing::read(&device);
        Some(Self {
            name: device.name(),
            bytes,
            part_of: is_partition.then(part_of).flatten(),
            holders: numbers(device.holder_devices()),
            slaves: numbers(device.slave_devices()),
            backing,
            mapping: device.attribute("dm/uuid"),
            wwid: device.world_wide_name(),
            device,
        })
    }

    /// Whether bcache has taken the device, which shows before anything is built on it.
    pub(super) fn is_bcache(&self) -> bool {
        self.holders.is_empty() && self.slaves.is_empty() && self.device.folder().join("bcache").exists()
    }
}

/// Devices and the kinds of their file systems, from `/sys/fs/KIND/DEVICE`.
fn file_systems(sys: &Path) -> BTreeMap<String, String> {
    let name = |entry: &fs::DirEntry| entry.file_name().into_string().ok();
    let devices = entries(&sys.join("fs")).filter_map(|kind| Some((name(&kind)?, kind.path()))).flat_map(
        |(kind, folder)| entries(&folder).filter_map(move |device| Some((name(&device)?, kind.clone()))),
    );
    devices.collect()
}

/// MTD devices that UBI has attached, and all that share flash with these: a device is part of another if its
/// folder is inside the other's.
fn ubi_devices(sys: &Path) -> HashSet<u32> {
    let links = |folder: &str| entries(&sys.join(folder));
    let attached =
        links("class/ubi").filter_map(|link| BlockDevice::at(link.path()).attribute("mtd_num")?.parse().ok());
    let attached: Vec<u32> = attached.collect();
    let by_number = links("class/mtd").filter_map(|link| {
        let number: u32 = link.file_name().to_str()?.strip_prefix("mtd")?.parse().ok()?;
        Some((number, fs::canonicalize(link.path()).ok()?))
    });
    let folders: Vec<(u32, PathBuf)> = by_number.collect();
    let taken: Vec<&PathBuf> =
        folders.iter().filter(|(number, _)| attached.contains(number)).map(|(_, folder)| folder).collect();
    let shares =
        |folder: &Path| taken.iter().any(|other| folder.starts_with(other) || other.starts_with(folder));
    let sharing = folders.iter().filter(|(_, folder)| shares(folder)).map(|(number, _)| *number);
    attached.iter().copied().chain(sharing).collect()
}

// Files of a file system whose bytes others may reach by other names.

/// File systems without a device of their own number that hold their own bytes: nothing else reaches these.
const OWN_BYTES: [&str; 6] = ["btrfs", "zfs", "bcachefs", "tmpfs", "ramfs", "rootfs"];

impl Snapshot {
    /// The kind of file system that shows a file, if the file's bytes may be those of another file or device. Names and numbers
    /// of what lies beneath are not asked. A moved folder, another namespace, and a file that was copied up since it was opened
    /// all mislead. If the path leads to another file, as in another mount namespace, only the numbers tell.
    pub(super) fn shown_by(&self, store: Store, path: Option<&Path>) -> Option<String> {
        let Store::File { device, .. } = store else { return None };
        let number = DeviceNumber::from_raw(device);
        if BlockDevice::by_number(number).is_some() {
            return None;
        }
        let path = path.filter(|path| Store::at(path) == Some(store));
        let opened = path.and_then(|path| open_path(path).ok());
        let mount = opened.and_then(Mount::containing);
        let mount = mount.as_ref().or_else(|| self.mount_list.iter().find(|mount| mount.device == number));
        match mount {
            Some(mount) => is_of_others(mount).then(|| mount.kind.clone()),
            None => Some("hidden".to_owned()),
        }
    }

    /// The mounts of this machine whose files may be those of other ones.
    pub(super) fn showing_others(&self) -> impl Iterator<Item = &Mount> {
        // Each namespace has its own mount of the same file system.
        let mut known = HashMap::new();
        self.mount_list.iter().filter(move |mount| {
            let is_local = !REMOTE.contains(&&*mount.kind);
            is_local && *known.entry(mount.device).or_insert_with(|| is_of_others(mount))
        })
    }

    /// A mounted image without a device, whose file cannot be determined.
    pub(super) fn unknown_image(&self) -> Option<&Mount> {
        let mut images =
            self.mount_list.iter().filter(|mount| mount.kind == "erofs" && mount.device.major == 0);
        images.find(|mount| !is_whole_erofs(Path::new(&mount.source)))
    }
}

/// Whether files of a mount may be the bytes of other files or devices. They are not if the mount has a device, or a kind
/// that is known to hold its own bytes. Nor are they if it is a FUSE file system whose server has no file or device open.
fn is_of_others(mount: &Mount) -> bool {
    if mount.device.major != 0
        || [&OWN_BYTES[..], &KERNEL_FILE_SYSTEMS].iter().any(|list| list.contains(&&*mount.kind))
    {
        return false;
    }
    let is_fuse = mount.kind == "fuse" || mount.kind.starts_with("fuse.");
    !is_fuse || fuse_servers_have_files(mount.device)
}

/// Whether a path leads to an image of erofs that needs no other file: its magic, and no further devices (`struct
/// erofs_super_block` in fs/erofs/erofs_fs.h of the Linux sources: at 1024, `extra_devices` at 86 of it).
fn is_whole_erofs(path: &Path) -> bool {
    let superblock = path.is_absolute().then(|| File::open(path)).and_then(Result::ok).and_then(|file| {
        let mut bytes = [0; 88];
        file.read_exact_at(&mut bytes, 1024).ok()?;
        Some(bytes)
    });
    superblock.is_some_and(|bytes| bytes[..4] == [0xE2, 0xE1, 0xF5, 0xE0] && bytes[86..] == [0, 0])
}
