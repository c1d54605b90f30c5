import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { temporaryFolder } from "./ServerProcess.ts"

/** Why this machine cannot mount a file system. Undefined if it can. */
export const smallDiskSkipReason =
  process.getuid?.() === 0 ? undefined : "only root may mount a tmpfs"

/**
 * Creates a folder on a small in-memory disk, which tests can fill and free. The disk is unmounted
 * when the scope closes.
 */
export const smallDisk = Effect.fnUntraced(function* (megabytes: number) {
  const folder = yield* temporaryFolder("disk")
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder])
    ),
    // The unmount is lazy, because a killed process can take a moment to close its files.
    () => Effect.sync(() => execFileSync("umount", ["--lazy", folder]))
  )
  const ballast = path.join(folder, "ballast")
  return {
    folder,
    /** Fills the disk completely. Returns how many megabytes were free. */
    fill: Effect.sync(() => {
      for (let size = 1 << 20; size >= 1; size /= 2) append(ballast, Buffer.alloc(size))
      return fs.statSync(ballast).size / (1 << 20)
    }),
    free: Effect.sync(() => fs.rmSync(ballast, { force: true }))
  }
})

const append = (file: string, bytes: Buffer) => {
  for (;;) {
    try {
      fs.appendFileSync(file, bytes)
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOSPC") return
      throw error
    }
  }
}
