//! Why a flash drive cannot be laid out in some way.

/// What does not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the sentence of each variant explains its fields")]
pub enum LayoutError {
    // How flash is divided
    #[error("every count is at least 1")]
    ZeroCount,
    #[error("{dies} dies and {pages_per_block} pages in a block are more than the 65535 that are supported")]
    LargeDivision { dies: u32, pages_per_block: u32 },
    #[error("{pages} flash pages are more than the 2³² − 2 that are supported")]
    TooManyPages { pages: u64 },
    #[error(
        "a block of {pages_per_block} pages is not a multiple of the {row} pages of a read and the {unit} pages of a program"
    )]
    OddBlock { pages_per_block: u32, row: u32, unit: u32 },

    // Page maps
    #[error("at least 2 blocks are kept free")]
    SmallReserve,
    #[error(
        "{user_pages} user pages leave too little spare: {pages} flash pages hold at most {usable} of them beside the reserve"
    )]
    LittleSpare { user_pages: u32, pages: u64, usable: u64 },
    #[error("collection from random choices takes at least 1 of them")]
    NoChoices,
    #[error("blocks are rated for at least 1 erasure")]
    NoEndurance,

    // SLC caches
    #[error("an SLC cache goes with map.streams \"separate\" and without map.endurance_erases")]
    PoliciesBesideSlcCache,
    #[error("{bits} bits in a cell: 2 to 5 are supported")]
    BitsPerCell { bits: u32 },
    #[error("an SLC cache has a static part, a dynamic part or both")]
    EmptySlcCache,
    #[error("{percent} percent of the free space: it takes 0 to 100")]
    DynamicShare { percent: u32 },
    #[error(
        "a block of {pages_per_block} pages in rows of {row} holds no row with one of {bits} bits in a cell"
    )]
    NoSlcRow { pages_per_block: u32, row: u32, bits: u32 },

    // Compressing maps
    #[error(
        "{user_pages} user pages leave too little spare: without compression, {pages} flash pages hold at most {usable} of them beside the reserve and the parity"
    )]
    LittleSpareUncompressed { user_pages: u32, pages: u64, usable: u64 },
    #[error(
        "a page of {granules} granules, compressed to {least} at least: a page has at most 255 granules and takes at least 1 of them"
    )]
    Granules { granules: u32, least: u32 },
    #[error(
        "one program unit of {stripe} holds parity: a block of {units} units takes a divisor of that, 2 at least, or 0 for none"
    )]
    ParityStripe { stripe: u32, units: u32 },
    #[error("a program of {unit} pages is not a multiple of the {row} pages of a read")]
    OddUnit { unit: u32, row: u32 },
    #[error(
        "{blocks} blocks of {granules} granules: at most 65535 in a block and 2³² − 2 in all are supported, so take fewer granules a page"
    )]
    TooManyGranules { blocks: u32, granules: u64 },

    // Maps of clusters
    #[error(
        "a cluster map reads and programs one mapping unit at a time, not {row} and {unit}: set map.page_bytes to the size of a page over all planes"
    )]
    SeveralUnits { row: u32, unit: u32 },
    #[error("map.cluster_dies is {cluster_dies}: it takes a divisor of the {dies} dies")]
    ClusterDies { cluster_dies: u32, dies: u32 },
    #[error("a cluster of {pages} pages is larger than the 65534 that are supported")]
    LargeCluster { pages: u64 },
    #[error("a stripe of {stripe} pages is not a divisor of a cluster of {pages} pages")]
    OddStripe { stripe: u32, pages: u64 },
    #[error("a group of dies takes at least 1 log block")]
    NoLogBlock,
    #[error(
        "{blocks} blocks on each die are too few: {clusters} hold clusters, and {spare} more are needed for logs and merges"
    )]
    FewBlocks { blocks: u32, clusters: u32, spare: u32 },
}
