//! An account, in a folder of its own: its home, what cargo has downloaded for it, its caches and settings. The toolchains of rustup
//! are the machine's.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is taken over from whoever runs the tests: how the network is reached.
const OF_THE_NETWORK: [&str; 6] = [
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "SSL_CERT_FILE",
];

pub struct Account {
    pub home: tempfile::TempDir,
    variables: Vec<(String, String)>,
    /// Of the folders on the path, those of cargo and the command.
    tools: Vec<PathBuf>,
    /// The folder that the archive was unpacked to, by its name in the home.
    pub unpacked: Option<String>,
}

impl Account {
    /// With this archive in its home, unpacked as the tutorial says, and nothing that was built or downloaded.
    pub fn with_archive(archive: &Path) -> Self {
        let home = tempfile::tempdir().unwrap();
        let name = archive.file_name().unwrap().to_str().unwrap();
        fs::copy(archive, home.path().join(name)).unwrap();
        let unpacked = name.strip_suffix(".tar.gz").expect("as `./release` calls it");
        let mut account = Self::new(home);
        // How this machine reaches the registry belongs to the machine.
        let cargo = account.home.path().join(".cargo");
        fs::create_dir(&cargo).unwrap();
        let settings = cargo_home().join("config.toml");
        if settings.is_file() {
            fs::copy(settings, cargo.join("config.toml")).unwrap();
        }
        account.set("CARGO_HOME", cargo.to_str().unwrap());
        account.unpacked = Some(unpacked.to_owned());
        account
    }

    /// With a command that was built just now, and what cargo has downloaded and built for other tests.
    pub fn with_command(command: &Path, target: &Path) -> Self {
        let mut account = Self::new(tempfile::tempdir().unwrap());
        account.tools.insert(0, command.parent().unwrap().to_path_buf());
        account.set("CARGO_HOME", cargo_home().to_str().unwrap());
        account.set("CARGO_TARGET_DIR", target.to_str().unwrap());
        account.set("CARGO_NET_OFFLINE", "true");
        for (name, value) in crate::profile::PROFILE {
            account.set(name, value);
        }
        for name in ["XDG_CACHE_HOME", "CKPT_RUNTIME_PATH"] {
            if let Ok(value) = std::env::var(name) {
                account.set(name, &value);
            }
        }
        account
    }

    fn new(home: tempfile::TempDir) -> Self {
        let tools = vec![folder_of("cargo")];
        let mut account = Self {
            home,
            variables: Vec::new(),
            tools,
            unpacked: None,
        };
        let path = account.home.path().to_str().unwrap().to_owned();
        account.set("HOME", &path);
        account.set("USER", "newcomer");
        account.set("LANG", "C.UTF-8");
        account.set("TERM", "xterm-256color");
        let rustup = std::env::var("RUSTUP_HOME").ok();
        let rustup = rustup.unwrap_or_else(|| format!("{}/.rustup", std::env::var("HOME").unwrap()));
        account.set("RUSTUP_HOME", &rustup);
        for name in OF_THE_NETWORK {
            if let Ok(value) = std::env::var(name) {
                account.set(name, &value);
            }
        }
        account
    }

    pub fn set(&mut self, name: &str, value: &str) {
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    /// A command that has the account's variables and no others.
    pub fn command(&self, program: &str) -> Command {
        let mut path: Vec<PathBuf> = self.tools.clone();
        path.extend(["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"].map(PathBuf::from));
        let mut command = Command::new(program);
        command
            .current_dir(self.home.path())
            .env_clear()
            .env("PATH", std::env::join_paths(path).unwrap())
            .envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }
}

fn cargo_home() -> PathBuf {
    let said = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    said.unwrap_or_else(|| Path::new(&std::env::var_os("HOME").unwrap()).join(".cargo"))
}

/// Where on the path a program is: of cargo the one of rustup, which the tests' own toolchain stands in front of.
fn folder_of(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let is_of_toolchain = |folder: &PathBuf| folder.components().any(|part| part.as_os_str() == "toolchains");
    let folders: Vec<PathBuf> = std::env::split_paths(&path)
        .filter(|folder| folder.join(program).is_file())
        .collect();
    let own = folders.iter().find(|folder| !is_of_toolchain(folder));
    own.or(folders.first()).expect("cargo is on the path").clone()
}
