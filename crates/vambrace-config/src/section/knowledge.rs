//! The index, the memory and where shared state is kept.

use super::{section, words};
use crate::value::ConnectionUrl;

words! {
    /// What makes vectors, or ranks without them.
    pub enum EmbedderKind {
        /// Ranking by words; needs nothing.
        Bm25 = "bm25",
        /// A small model in this process.
        Minilm = "minilm",
        /// An Ollama server.
        Ollama = "ollama",
    }
}

section! {
    /// What makes vectors, or ranks without them.
    pub struct Embedder {
        /// Its kind.
        pub kind: EmbedderKind = EmbedderKind::Bm25,
        /// `minilm`: the folder with the model's files.
        pub path: Option<String> = None,
        /// `ollama`: the server's address. Unset: `ollama.base_url`.
        pub base_url: Option<String> = None,
        /// `ollama`: the model. Unset: `ollama.embedding_model`.
        pub model: Option<String> = None,
    }
}

words! {
    /// Where vectors are kept.
    pub enum StoreKind {
        /// In the state folder.
        Embedded = "embedded",
        /// In a Chroma server.
        Chroma = "chroma",
    }
}

section! {
    /// Where vectors are kept.
    pub struct Store {
        /// Its kind.
        pub kind: StoreKind = StoreKind::Embedded,
        /// `chroma`: the server's address.
        pub url: Option<ConnectionUrl> = None,
        /// `chroma`: the collection.
        pub collection: Option<String> = None,
    }
}

section! {
    /// The index of the project (specification 004).
    pub struct Knowledge {
        /// What makes vectors, or ranks without them.
        pub embedder: Embedder = Embedder::default(),
        /// Where vectors are kept.
        pub store: Store = Store::default(),
    }
}

words! {
    /// Who shares what was remembered.
    pub enum KnowledgeScope {
        /// Everybody.
        Shared = "shared",
        /// The people of a channel.
        Channel = "channel",
        /// Nobody.
        User = "user",
    }
}

section! {
    /// Search over what was remembered (specification 001).
    pub struct Rag {
        /// The characters of a piece.
        #[schemars(range(min = 1))]
        pub chunk_size: u64 = 2_000,
        /// The messages that two pieces share.
        pub chunk_overlap: u64 = 1,
        /// The messages of a piece.
        #[schemars(range(min = 1))]
        pub messages_per_chunk: u64 = 5,
        /// How alike a result must be.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub similarity_threshold: f64 = 0.7,
        /// The results of a search.
        #[schemars(range(min = 1))]
        pub max_results: u64 = 5,
        /// Who shares what was remembered.
        pub knowledge_scope: KnowledgeScope = KnowledgeScope::Shared,
    }
}

words! {
    /// Who may read memory.
    pub enum MemoryReads {
        /// Those who may read, once lists are configured.
        Checked = "checked",
        /// Everybody (specification 001).
        Open = "open",
    }
}

words! {
    /// Where memory is kept.
    pub enum MemoryBackend {
        /// In the store; a Markdown file is a view of it.
        Store = "store",
        /// In `MEMORY.md` (specification 003).
        Markdown = "markdown",
    }
}

section! {
    /// What was taught and remembered.
    pub struct Memory {
        /// Who may read it.
        pub reads: MemoryReads = MemoryReads::Checked,
        /// Where it is kept.
        pub backend: MemoryBackend = MemoryBackend::Store,
    }
}

section! {
    /// Where state that several processes share is kept.
    pub struct State {
        /// The memory: `embedded`, or a `postgres://` address.
        pub memory: ConnectionUrl = ConnectionUrl::new("embedded".to_owned()),
        /// The rate limits: `local`, or a `redis://` address.
        pub limits: ConnectionUrl = ConnectionUrl::new("local".to_owned()),
    }
}
