use std::path::PathBuf;

use newer::{CompressionType, Options, Result, Tree};

/// The options of a tree, as SurrealDB 3 sets them. Named as in SurrealKV, where each is described.
pub struct TreeBuilder {
    options: Options,
}

impl Default for TreeBuilder {
    /// SurrealKV's defaults, with a log whose blocks are laid out before they are written: a commit
    /// then waits for its own bytes to be on disk and not for the file's new length. What has left
    /// the first level, where it is soon written anew, is compressed: most of it is history in JSON.
    fn default() -> Self {
        let levels = vec![CompressionType::None, CompressionType::ZstdCompression];
        let options = Options::new().with_wal_preallocation(true);
        Self { options: options.with_compression_per_level(levels) }
    }
}

impl TreeBuilder {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn with_path(self, path: PathBuf) -> Self {
        self.with(|options| options.with_path(path))
    }

    pub fn with_block_size(self, bytes: usize) -> Self {
        self.with(|options| options.with_block_size(bytes))
    }

    pub fn with_block_cache_capacity(self, bytes: u64) -> Self {
        self.with(|options| options.with_block_cache_capacity(bytes))
    }

    pub fn with_max_memtable_size(self, bytes: usize) -> Self {
        self.with(|options| options.with_max_memtable_size(bytes))
    }

    pub fn with_enable_vlog(self, enable: bool) -> Self {
        self.with(|options| options.with_enable_vlog(enable))
    }

    pub fn with_vlog_max_file_size(self, bytes: u64) -> Self {
        self.with(|options| options.with_vlog_max_file_size(bytes))
    }

    pub fn with_vlog_value_threshold(self, bytes: usize) -> Self {
        self.with(|options| options.with_vlog_value_threshold(bytes))
    }

    pub fn with_versioning(self, enable: bool, retention_ns: u64) -> Self {
        self.with(|options| options.with_versioning(enable, retention_ns))
    }

    /// Changes nothing: version 1 reads old versions from its tables, with an index or without.
    pub fn with_versioned_index(self, _enable: bool) -> Self {
        self
    }

    /// Opens the tree, and makes or converts it first where that is needed.
    pub fn build(self) -> Result<Tree> {
        newer::TreeBuilder::with_options(self.options).build()
    }

    fn with(self, change: impl FnOnce(Options) -> Options) -> Self {
        Self { options: change(self.options) }
    }
}
