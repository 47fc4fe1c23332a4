/** Block devices of this kernel over files of ours, and a view of the system that has no others. */

import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, symlinkSync, writeSync } from "node:fs";
import { basename, join } from "node:path";

/** Bytes of a device: a check reads it in seconds. */
const LENGTH = 128 << 20;

/** Why none can be made here; nothing where they can. */
export function missing(): string | null {
  if (process.getuid?.() !== 0) return "loop devices need root";
  for (const words of [["losetup", "--find"], ["unshare", "--mount", "true"]]) {
    try {
      execFileSync(words[0]!, words.slice(1), { stdio: "ignore" });
    } catch {
      return `${words.join(" ")} does not work here`;
    }
  }
  return null;
}

/** A loop device over a file that this makes in a folder. */
export class Device {
  private constructor(
    readonly path: string,
    readonly file: string,
  ) {}

  static make(folder: string, name: string): Device {
    const file = join(folder, name);
    const open = openSync(file, "wx");
    // What is written there must be there again in the end.
    const block = Buffer.alloc(1 << 20, name);
    for (let at = 0; at < LENGTH; at += block.length) writeSync(open, block);
    closeSync(open);
    const path = execFileSync("losetup", ["--find", "--show", file], { encoding: "utf8" }).trim();
    return new Device(path, file);
  }

  /** What it holds, in short. */
  sum(): string {
    return execFileSync("sha256sum", [this.file], { encoding: "utf8" }).split(" ")[0]!;
  }

  detach(): void {
    execFileSync("losetup", ["--detach", this.path]);
  }
}

/** The words before a program for which the system has these block devices alone; `folder` is for this. */
export function seeingOnly(devices: Device[], folder: string): string[] {
  mkdirSync(folder);
  for (const { path } of devices) symlinkSync(`/sys/devices/virtual/block/${basename(path)}`, join(folder, basename(path)));
  const script = 'for at in /sys/block /sys/class/block; do mount --bind "$0" "$at" || exit 1; done; exec "$@"';
  return ["unshare", "--mount", "sh", "-c", script, folder];
}
