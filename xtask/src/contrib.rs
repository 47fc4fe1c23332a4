//! Checks examples in `contrib/` and the forge's files with their own tools. The program's tests check the others.

use std::path::Path;

use anyhow::ensure;
use xshell::{Shell, cmd};

use crate::{python, root};

/// A database that does not exist.
const HISTORY: &str = "likenew_history=postgres://likenew:secret@db.example/likenew";

/// Runs all tools.
///
/// # Errors
/// A tool is missing, or it finds an error in an example.
pub(crate) fn check() -> anyhow::Result<()> {
    let sh = Shell::new()?;
    sh.change_dir(root());
    let tools = python::install(&sh, &python::EXAMPLES)?;
    let tool = |name: &str| tools.join(name);
    let (interpreter, hadolint, validate) = (tool("python"), tool("hadolint"), tool("kubernetes-validate"));
    cmd!(sh, "{interpreter} xtask/dashboard.py contrib/grafana/likenew.json").run()?;
    let schema = tool("check-jsonschema");
    cmd!(sh, "{hadolint} contrib/container/Containerfile .devcontainer/Containerfile").run()?;
    cmd!(sh, "{schema} --quiet --builtin-schema vendor.github-workflows .github/workflows/test.yml").run()?;
    cmd!(sh, "{validate} --strict --quiet contrib/kubernetes/daemonset.yaml").run()?;
    ansible(&sh, &tools)
}

fn ansible(sh: &Shell, tools: &Path) -> anyhow::Result<()> {
    let _folder = sh.push_dir(root().join("contrib/ansible"));
    // The linter calls other programs by name, and would leave its own files in the repository.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([tools.to_owned()].into_iter().chain(std::env::split_paths(&path)))?;
    let _path = sh.push_env("PATH", path);
    cmd!(sh, "ansible-playbook --syntax-check -i localhost, site.yml").quiet().ignore_stdout().run()?;
    cmd!(sh, "ansible-lint --offline --nocolor -q --profile production .").run()?;
    if !rustix::process::geteuid().is_root() {
        println!("ansible: only root can try the playbook, so it was not run");
        return Ok(());
    }
    let run = cmd!(sh, "unshare --mount sh -euc {SCRATCH_MACHINE} sh {HISTORY}").quiet().read()?;
    let settings = HISTORY.replace("likenew_history", "LIKENEW_HISTORY");
    for line in [settings.as_str(), "OnCalendar=Sun 04:00", "600", "Status: install ok installed"] {
        ensure!(run.lines().any(|printed| printed == line), "the playbook did not bring {line}:\n{run}");
    }
    let recaps: Vec<&str> = run.lines().filter(|line| line.contains("unreachable=0")).collect();
    let is_unchanged =
        recaps.last().is_some_and(|recap| recap.contains("changed=0") && recap.contains("failed=0"));
    ensure!(recaps.len() == 2 && is_unchanged, "a second run of the playbook changes something:\n{run}");
    Ok(())
}

/// Runs the playbook twice on this machine, with overlays over its folders that end with the script. The package is an
/// empty one of the right name. No service starts.
const SCRATCH_MACHINE: &str = r#"
scratch=$(mktemp -d)
mount -t tmpfs none "$scratch"
mkdir -p "$scratch/package/DEBIAN"
package=$scratch/likenew_0.1.0_amd64.deb
{
    echo 'Package: likenew'
    echo 'Version: 0.1.0'
    echo 'Architecture: all'
    echo 'Maintainer: The Likenew project <likenew@example.org>'
    echo 'Description: stands for the package in a trial of the playbook'
} > "$scratch/package/DEBIAN/control"
dpkg-deb --build "$scratch/package" "$package" > /dev/null
for folder in etc usr var; do
    mkdir "$scratch/$folder-upper" "$scratch/$folder-work"
    mount -t overlay none -o "lowerdir=/$folder,upperdir=$scratch/$folder-upper,workdir=$scratch/$folder-work" "/$folder"
done
for run in 1 2; do
    ansible-playbook -i localhost, -c local site.yml --skip-tags service \
        -e ansible_python_interpreter=/usr/bin/python3 -e "likenew_package=$package" -e "$1"
done
cat /etc/default/likenew /etc/systemd/system/likenew-check.timer.d/schedule.conf
stat -c %a /etc/default/likenew
dpkg -s likenew
umount -l "$scratch"
rmdir "$scratch"
"#;
