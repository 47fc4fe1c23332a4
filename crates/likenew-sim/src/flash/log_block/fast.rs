//! Fully associative log blocks: a log block takes pages of any cluster in the order in which they arrive (FAST; Lee and
//! others, "A log buffer-based flash translation layer using fully-associative sector translation", 2007).
//!
//! When all log blocks are full, the oldest is emptied: every cluster that has a newest copy in it is merged in full, from
//! wherever its pages are. One more log block takes a sequential stream page for page in place, so that it can take the
//! place of its cluster (switch merge), or does so after the rest has been copied (partial merge). A stream is known by
//! its second page, or by going on where a cluster has ended: a single write to the first page of a cluster is none.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::cluster_map::{ClusterMap, LogScheme};
use super::cluster_parameters::ClusterParameters;
use super::clusters::Clusters;
use crate::flash::layout_error::LayoutError;
use crate::flash::translation_layer::PendingWork;

/// A translation layer with log blocks that all clusters share.
pub type Fast = ClusterMap<FastLogs>;

impl ClusterParameters {
    /// Whether a [`Fast`] of this shape can work.
    ///
    /// # Errors
    /// What does not fit.
    pub fn check_fast(&self) -> Result<(), LayoutError> {
        // One more for the sequential stream, and one for the result of a full merge.
        self.check(self.log_blocks + 2)
    }
}

impl Fast {
    /// An erased drive.
    ///
    /// # Panics
    /// If the parameters do not pass their check.
    pub fn new(parameters: ClusterParameters) -> Self {
        parameters.check_fast().expect("the parameters were checked");
        let in_group = parameters.clusters_per_group();
        let pages = in_group as usize * parameters.cluster_pages() as usize;
        Self::from_scheme(Clusters::new(parameters), |group| FastLogs {
            first_cluster: group * in_group,
            newest: vec![NO_PAGE; pages],
            logs: VecDeque::with_capacity(parameters.log_blocks as usize),
            stream: None,
            last: None,
        })
    }
}

/// In the map, 0 stands for "nothing", so that a new drive's map is untouched zero memory; copy `n` is `n + 1`.
const NO_PAGE: u32 = 0;

/// A log block for pages of any cluster.
#[derive(Serialize, Deserialize)]
struct Log {
    block: u32,
    /// The page at each position written so far.
    pages: Vec<(u32, u32)>,
}

/// The log block of a sequential stream.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Stream {
    cluster: u32,
    block: u32,
    /// Pages before this one are written.
    next: u32,
    /// One of them has a newer copy elsewhere.
    stale: bool,
}

/// The log blocks of a group of dies.
#[derive(Serialize, Deserialize)]
pub struct FastLogs {
    first_cluster: u32,
    /// By page of the group: its newest copy, if a log block has it.
    newest: Vec<u32>,
    /// The oldest first; all but the last are full.
    logs: VecDeque<Log>,
    stream: Option<Stream>,
    /// What was written last.
    last: Option<(u32, u32)>,
}

/// Where the next page goes.
enum Target {
    /// To the shared log blocks.
    Shared,
    /// On with the stream.
    Stream,
    /// To a new stream, which begins with this page or the one before.
    NewStream,
}

impl FastLogs {
    fn index(&self, clusters: &Clusters, (cluster, offset): (u32, u32)) -> usize {
        (cluster - self.first_cluster) as usize * clusters.pages() as usize + offset as usize
    }

    fn target(&self, clusters: &Clusters, (cluster, offset): (u32, u32)) -> Target {
        if self.stream.is_some_and(|stream| stream.cluster == cluster && stream.next == offset) {
            return Target::Stream;
        }
        let before = match offset {
            0 => Some((self.cluster_before(clusters, cluster), clusters.pages() - 1)),
            1 => Some((cluster, 0)),
            _ => None,
        };
        if before.is_some() && self.last == before { Target::NewStream } else { Target::Shared }
    }

    /// The cluster that a stream ends before it goes on with this one, in a circle through the group.
    fn cluster_before(&self, clusters: &Clusters, cluster: u32) -> u32 {
        if cluster > self.first_cluster { cluster - 1 } else { cluster + clusters.clusters_per_group() - 1 }
    }

    fn set_newest(&mut self, clusters: &Clusters, page: (u32, u32), at: u64) {
        let index = self.index(clusters, page);
        self.newest[index] = at as u32 + 1;
    }

    /// Nothing of a cluster is in a log any more; returns the block of its stream, if it had one.
    fn leave_logs(&mut self, clusters: &Clusters, cluster: u32) -> Option<u32> {
        let start = self.index(clusters, (cluster, 0));
        self.newest[start..start + clusters.pages() as usize].fill(NO_PAGE);
        self.stream.take_if(|stream| stream.cluster == cluster).map(|stream| stream.block)
    }

    /// Brings the newest copies of a cluster together in a new block.
    fn merge_in_full(&mut self, clusters: &mut Clusters, cluster: u32, pending: &mut PendingWork) {
        let to = clusters.take(clusters.group(cluster));
        let newest = |clusters: &Clusters, offset| self.find(clusters, (cluster, offset));
        clusters.copy(cluster, 0..clusters.pages(), to, newest, pending);
        clusters.switch(cluster, to, pending);
        if let Some(block) = self.leave_logs(clusters, cluster) {
            clusters.erase(block, pending);
        }
    }

    /// The stream's block takes the place of its cluster.
    fn end_stream(&mut self, clusters: &mut Clusters, pending: &mut PendingWork) {
        let Some(Stream { cluster, block, next, stale }) = self.stream else { return };
        if stale {
            return self.merge_in_full(clusters, cluster, pending);
        }
        let newest = |clusters: &Clusters, offset| self.find(clusters, (cluster, offset));
        clusters.copy(cluster, next..clusters.pages(), block, newest, pending);
        clusters.switch(cluster, block, pending);
        self.leave_logs(clusters, cluster);
    }

    /// Merges every cluster that has a newest copy in the oldest log block, and erases that.
    fn empty_oldest(&mut self, clusters: &mut Clusters, pending: &mut PendingWork) {
        let log = self.logs.pop_front().expect("there is at least one log block");
        for (position, page) in (0..).zip(&log.pages) {
            if self.find(clusters, *page) == Some(clusters.at(log.block, position)) {
                self.merge_in_full(clusters, page.0, pending);
            }
        }
        clusters.erase(log.block, pending);
    }

    fn append_shared(&mut self, clusters: &mut Clusters, page: (u32, u32), pending: &mut PendingWork) -> u64 {
        let pages = clusters.pages() as usize;
        if self.logs.back().is_none_or(|log| log.pages.len() == pages) {
            if self.logs.len() == clusters.parameters().log_blocks as usize {
                self.empty_oldest(clusters, pending);
            }
            let block = clusters.take(clusters.group(page.0));
            self.logs.push_back(Log { block, pages: Vec::with_capacity(pages) });
        }
        if let Some(stream) = &mut self.stream
            && stream.cluster == page.0
        {
            stream.stale |= page.1 < stream.next;
        }
        let log = self.logs.back_mut().expect("there is one with room");
        let at = clusters.at(log.block, log.pages.len() as u32);
        log.pages.push(page);
        at
    }

    fn append_stream(&mut self, clusters: &Clusters, page: (u32, u32)) -> u64 {
        let stream = self.stream.as_mut().expect("a stream goes on");
        assert_eq!((stream.cluster, stream.next), page, "a stream goes on page for page");
        stream.next += 1;
        clusters.at(stream.block, page.1)
    }

    /// Opens a stream that begins with this page, or with the one before, which is copied.
    fn open_stream(
        &mut self,
        clusters: &mut Clusters,
        (cluster, offset): (u32, u32),
        pending: &mut PendingWork,
    ) {
        self.end_stream(clusters, pending);
        let block = clusters.take(clusters.group(cluster));
        let newest = |clusters: &Clusters, offset| self.find(clusters, (cluster, offset));
        clusters.copy(cluster, 0..offset, block, newest, pending);
        for before in (0..offset).filter(|before| clusters.holds(cluster, *before)) {
            self.set_newest(clusters, (cluster, before), clusters.at(block, before));
        }
        self.stream = Some(Stream { cluster, block, next: offset, stale: false });
    }
}

impl LogScheme for FastLogs {
    fn find(&self, clusters: &Clusters, page: (u32, u32)) -> Option<u64> {
        self.newest[self.index(clusters, page)].checked_sub(1).map(u64::from)
    }

    fn position(&self, clusters: &Clusters, page: (u32, u32)) -> u32 {
        match self.target(clusters, page) {
            Target::Stream | Target::NewStream => page.1,
            Target::Shared => self.logs.back().map_or(0, |log| log.pages.len() as u32 % clusters.pages()),
        }
    }

    fn append(&mut self, clusters: &mut Clusters, page: (u32, u32), pending: &mut PendingWork) -> u64 {
        let at = match self.target(clusters, page) {
            Target::Shared => self.append_shared(clusters, page, pending),
            Target::Stream => self.append_stream(clusters, page),
            Target::NewStream => {
                self.open_stream(clusters, page, pending);
                self.append_stream(clusters, page)
            }
        };
        self.set_newest(clusters, page, at);
        self.last = Some(page);
        at
    }

    fn settle(&mut self, clusters: &mut Clusters, _page: (u32, u32), pending: &mut PendingWork) {
        if self.stream.is_some_and(|stream| stream.next == clusters.pages()) {
            self.end_stream(clusters, pending);
        }
    }

    fn forget(&mut self, clusters: &mut Clusters, page: (u32, u32), pending: &mut PendingWork) {
        let index = self.index(clusters, page);
        self.newest[index] = NO_PAGE;
        if clusters.gives_up(page.0) {
            if let Some(block) = self.leave_logs(clusters, page.0) {
                clusters.erase(block, pending);
            }
            clusters.release(page.0, pending);
        }
    }

    fn merge_one(&mut self, clusters: &mut Clusters, pending: &mut PendingWork) -> bool {
        let any = !self.logs.is_empty();
        if any {
            self.empty_oldest(clusters, pending);
        }
        any
    }
}
