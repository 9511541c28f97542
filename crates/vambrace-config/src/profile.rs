//! The profiles: data files that give back one specification's literal behavior.

use crate::node::Node;
use crate::problem::ConfigError;
use crate::section::ProfileName;
use crate::source::{Format, parse};

impl ProfileName {
    /// The profile's settings, as a configuration file that an operator could have written.
    pub fn text(self) -> &'static str {
        match self {
            ProfileName::Strict => include_str!("../profiles/strict.yaml"),
            ProfileName::DeclaredTools => include_str!("../profiles/declared-tools.yaml"),
            ProfileName::KnowledgeService => include_str!("../profiles/knowledge-service.yaml"),
            ProfileName::TerminalAgent => include_str!("../profiles/terminal-agent.yaml"),
            ProfileName::WorkspaceAgent => include_str!("../profiles/workspace-agent.yaml"),
            ProfileName::MonorepoTeam => include_str!("../profiles/monorepo-team.yaml"),
        }
    }

    pub(crate) fn tree(self) -> Result<Node, ConfigError> {
        parse(self.text(), Format::Yaml)
    }
}
