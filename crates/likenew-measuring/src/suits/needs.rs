//! The figures that makers of databases and other programs publish for the durable writes that these need.

use clap::ValueEnum;
use likenew_core::units::Nanos;
use serde::{Deserialize, Serialize};

/// What a drive is to be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Use {
    /// The log of etcd, and so a Kubernetes control plane
    Etcd,
    /// The same of a heavily loaded cluster
    EtcdHeavy,
    /// Virtual machines, by the figure of Proxmox VE (also: vm)
    #[serde(alias = "vm")]
    #[value(alias = "vm")]
    Proxmox,
    /// The log of Microsoft SQL Server
    SqlServer,
    /// The write-ahead log of PostgreSQL
    Postgres,
    /// The redo log of MySQL or MariaDB
    Mysql,
    /// A separate log device (SLOG) of ZFS
    ZfsSlog,
    /// The log of Apache Kafka
    Kafka,
}

/// A published figure that a drive must reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Need {
    /// At least this many commits a second of one writer.
    CommitsPerS(f64),
    /// 99 of 100 flushes take at most this long.
    FlushP99(Nanos),
    /// A write and its flush take at most this long on average.
    CommitMean(Nanos),
}

impl Use {
    /// Every use.
    pub(super) const ALL: [Self; 8] = [
        Self::Etcd,
        Self::EtcdHeavy,
        Self::Proxmox,
        Self::SqlServer,
        Self::Postgres,
        Self::Mysql,
        Self::ZfsSlog,
        Self::Kafka,
    ];

    /// The published figures and their source; no figures if nothing is published.
    pub(super) fn needs(self) -> (&'static [Need], &'static str) {
        const ETCD: &str = "https://docs.okd.io/latest/etcd/etcd-practices.html";
        match self {
            Self::Etcd => {
                (const { &[Need::CommitsPerS(50.0), Need::FlushP99(Nanos::from_millis(10))] }, ETCD)
            }
            Self::EtcdHeavy => {
                (const { &[Need::CommitsPerS(500.0), Need::CommitMean(Nanos::from_millis(2))] }, ETCD)
            }
            Self::Proxmox => (&[Need::CommitsPerS(200.0)], "https://pve.proxmox.com/pve-docs/pveperf.1.html"),
            Self::SqlServer => (
                const { &[Need::CommitMean(Nanos::from_millis(10))] },
                "https://learn.microsoft.com/en-us/troubleshoot/sql/performance/troubleshoot-sql-io-performance",
            ),
            Self::Postgres => (&[], "https://www.postgresql.org/docs/current/wal-reliability.html"),
            Self::Mysql => (&[], "https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html"),
            Self::ZfsSlog => {
                (&[], "https://openzfs.github.io/openzfs-docs/Basic%20Concepts/Pool%20Structure/Caching.html")
            }
            Self::Kafka => (&[], "https://kafka.apache.org/documentation.html#appvsosflush"),
        }
    }
}
