//! The names that are blocked or protected everywhere, present or not. Rows of data; the reason stands above each group.
//! Those that are protected are many and each has its source, so they stand in a table of their own.

/// Never read, written or entered.
pub(crate) const BLOCKED: &[&str] = &[
    // Specification 004, and every spelling of an environment file.
    ".env",
    ".env.*",
    ".env~",
    ".git",
    "secrets",
    "node_modules",
    // Stores of credentials and nothing else. They lie in home folders, which are workspaces at times.
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".config/gcloud",
    ".docker/config.json",
    ".netrc",
    ".git-credentials",
    ".pgpass",
    ".vault-token",
    ".cargo/credentials",
    ".cargo/credentials.toml",
];

/// What `.env.*` does not mean: they are kept in repositories to be read and copied.
pub(crate) const EXAMPLES: &[&str] = &[".env.example", ".env.sample", ".env.template", ".env.dist"];

/// Never written or deleted: they decide what runs on this machine, unasked, or what an agent may do. Files that run
/// only when a person starts something (build files, CI) are not here; the cage is for those.
const PROTECTED: &str = include_str!("../rules/protected.tsv");

pub(crate) fn protected() -> impl Iterator<Item = &'static str> {
    rows().filter_map(|row| row.split('\t').next())
}

fn rows() -> impl Iterator<Item = &'static str> {
    PROTECTED.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::PathPattern;

    #[test]
    fn every_protected_name_says_who_reads_it_when_and_where_that_stands() {
        let mut seen = BTreeSet::new();
        for row in rows() {
            let columns: Vec<&str> = row.split('\t').collect();
            assert_eq!(columns.len(), 4, "{row}");
            assert!(columns.iter().all(|column| !column.is_empty() && *column == column.trim()), "{row}");
            assert!(columns[3].contains(['.', '/']) && !columns[3].contains("://"), "{row}");
            assert!(PathPattern::parse(columns[0]).is_ok(), "{row}");
            assert!(seen.insert(columns[0]), "twice: {row}");
        }
        assert!(seen.len() > 180, "{}", seen.len());
    }

    #[track_caller]
    fn check(path: &str, expected: bool) {
        let parts: Vec<String> = path.split('/').map(str::to_owned).collect();
        let covers = |text: &str| PathPattern::parse(text).unwrap().covers(&parts);
        assert_eq!(protected().any(covers), expected, "{path}");
    }

    #[test]
    fn what_runs_unasked_is_protected_and_what_a_person_starts_is_not() {
        for path in [
            "lefthook.jsonc",
            ".Lefthook-Local.yaml",
            ".config/lefthook.toml",
            "a/.helix/languages.toml",
            ".vs/tasks.vs.json",
            ".dir-locals-2.el",
            "mise.local.toml",
            "mise.production.local.toml",
            ".MISE.staging.toml",
            ".mise/config.toml",
            ".config/mise/conf.d/x.toml",
            ".config/mise.toml",
            ".rtx.toml",
            ".hg/hgrc-not-shared",
            ".hg/sharedpath",
            "sub/.hg",
            "prek.toml",
            ".overcommit.yml",
            ".simple-git-hooks.cjs",
            ".lintstagedrc.json",
            "project.sublime-project",
            ".flox/env/manifest.toml",
            ".shadowenv.d/1.lisp",
            "devenv.nix",
            ".github/hooks/x.json",
            ".factory/settings.json",
            "rust-toolchain",
            "service/Rust-Toolchain.toml",
            ".openhands/pre-commit.sh",
            ".commitlintrc.mjs",
            "commitlint.config.ts",
            "grumphp.yml.dist",
            "captainhook.json",
            ".rusty-hook.toml",
            ".nano-staged.cjs",
            ".trunk/trunk.yaml",
            ".agents/hooks.json",
            ".kilo/kilo.jsonc",
            ".cline/hooks/x",
            ".github/copilot/settings.json",
            ".github/agents/x.agent.md",
            ".github/mcp.json",
            ".pdbrc.py",
            "a/.ocamlinit",
            ".lazy.lua",
            ".rvmrc",
            ".envrc.local",
            "bunfig.toml",
            ".bundle/config",
            ".yarn/releases/yarn-4.cjs",
            ".idx/dev.nix",
            ".externalToolBuilders/x.launch",
            "mise/config.production.toml",
        ] {
            check(path, true);
        }
        for path in [
            "Makefile",
            "justfile",
            "package.json",
            "build.rs",
            "Cargo.toml",
            "conftest.py",
            "pyproject.toml",
            "Dockerfile",
            ".github/workflows/ci.yml",
            ".gitignore",
            ".gitattributes",
            ".editorconfig",
            ".tool-versions",
            "AGENTS.md",
            "CLAUDE.md",
            "lefthook.go",
            "mise.tomlx",
            "premise.toml",
            "helix/config.toml",
            ".github/copilot-instructions.md",
            "vs/tasks.json",
            ".hgignore",
            "flox",
            "rust-toolchain.md",
            "docs/rust-toolchain.toml.md",
            "rustfmt.toml",
            "bun.lock",
            "commitlint.md",
            "nano-staged.md",
            "agents/hooks.json",
            "openhands/setup.sh",
            "copilot/settings.json",
            ".github/copilot-setup-steps.yml",
            ".github/dependabot.yml",
            ".gitlab/merge_request_templates/x.md",
            ".gitlab-ci.yml",
            ".yarn/cache/x.zip",
            ".yarn/patches/x.patch",
            ".bundle/cache",
            "yarn.lock",
            "Gemfile",
            ".ruby-version",
            ".envrc.example",
            "mise/README.md",
            "mcp.json",
            "flake.nix",
            "shell.nix",
            ".eslintrc.js",
            "project",
            "login",
        ] {
            check(path, false);
        }
    }
}
