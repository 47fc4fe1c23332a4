//! Names of this machine's operating system and kernel.

use std::fs::read_to_string;

/// The release of the kernel, where /proc says it.
pub fn kernel() -> Option<String> {
    Some(read_to_string("/proc/sys/kernel/osrelease").ok()?.trim().to_owned())
}

/// Operating system and kernel: `Debian GNU/Linux 13, Linux 6.12.9`; in a container the system is that of the container.
pub fn system() -> Option<String> {
    let release =
        ["/etc/os-release", "/usr/lib/os-release"].into_iter().find_map(|path| read_to_string(path).ok());
    let name = release.as_deref().and_then(name_of);
    let kernel = kernel().map(|release| format!("Linux {release}"));
    let parts: Vec<String> = name.into_iter().chain(kernel).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The name in the text of os-release(5), which may be quoted as in a shell.
fn name_of(release: &str) -> Option<String> {
    let name = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    let name = name.trim().trim_matches(['"', '\'']);
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_system_is_read_with_and_without_quotes() {
        let debian = "NAME=\"Debian GNU/Linux\"\nPRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"\nID=debian\n";
        assert_eq!(name_of(debian).as_deref(), Some("Debian GNU/Linux 13 (trixie)"));
        assert_eq!(name_of("PRETTY_NAME=Alpine\n").as_deref(), Some("Alpine"));
        assert_eq!(name_of("PRETTY_NAME=\"\"\n"), None);
        assert_eq!(name_of("ID=x\n"), None);
    }

    #[test]
    fn this_system_names_its_kernel() {
        assert!(system().unwrap().ends_with(&kernel().unwrap()));
    }
}
