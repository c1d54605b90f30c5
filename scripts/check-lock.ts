/**
 * A lock file that was made beside an installed `node_modules` names the native parts of this
 * machine alone, and installs on no other. So: every package with its hash, every optional one
 * named; and with `--install`, in copies, what other platforms would get.
 *
 * To make a lock file anew: copy the `package.json` files into an empty folder and run
 * `npm install --package-lock-only` there.
 */
import { execFile } from "node:child_process"
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, posix } from "node:path"
import { promisify } from "node:util"

interface Package {
  readonly link?: boolean
  /** Comes inside the package that needs it, whose hash covers it. */
  readonly inBundle?: boolean
  readonly integrity?: string
  readonly os?: string | ReadonlyArray<string>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const root = join(import.meta.dirname, "..")

const platforms = [
  ["--os=darwin", "--cpu=arm64"],
  ["--os=linux", "--cpu=arm64", "--libc=glibc"],
  ["--os=linux", "--cpu=x64", "--libc=musl"],
  ["--os=win32", "--cpu=x64"]
]

const packagesOf = (lock: string): Readonly<Record<string, Package>> =>
  JSON.parse(readFileSync(join(root, lock), "utf8")).packages

/** Looks for a package as Node does: in the package that asks, then in each folder above it. */
const locate = (isThere: (path: string) => boolean, from: string, name: string) => {
  for (let folder = from; ; folder = folder.slice(0, Math.max(folder.lastIndexOf("/"), 0))) {
    const path = posix.join(folder, "node_modules", name)
    if (isThere(path)) return path
    if (folder === "") return undefined
  }
}

const missingFrom = (lock: string): ReadonlyArray<string> => {
  const packages = packagesOf(lock)
  return Object.entries(packages).flatMap(([path, one]) => [
    ...(path.includes("node_modules/") &&
    one.link !== true &&
    one.inBundle !== true &&
    one.integrity === undefined
      ? [`${lock}: ${path} has no integrity`]
      : []),
    ...Object.keys(one.optionalDependencies ?? {})
      .filter((name) => locate((at) => at in packages, path, name) === undefined)
      .map((name) => `${lock}: ${path || "the root"} has ${name}, which is not named`)
  ])
}

/** Packages whose native part is one of several packages, by platform, with the names of those. */
const nativeFamilies = () => {
  const packages = packagesOf("package-lock.json")
  return Object.entries(packages).flatMap(([path, one]) => {
    const parts = Object.keys(one.optionalDependencies ?? {}).filter((name) => {
      const at = locate((candidate) => candidate in packages, path, name)
      return at !== undefined && packages[at]?.os !== undefined
    })
    return parts.length > 1 ? [{ path, parts }] : []
  })
}

const missingOn = async (platform: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const copy = mkdtempSync(join(tmpdir(), "lock-"))
  try {
    const manifests = Object.entries(packagesOf("package-lock.json"))
      .filter(([path]) => !path.includes("node_modules/"))
      .map(([path]) => join(path, "package.json"))
    for (const file of [".npmrc", "package-lock.json", ...manifests]) {
      cpSync(join(root, file), join(copy, file))
    }
    const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", ...platform]
    await promisify(execFile)("npm", args, { cwd: copy })
    return nativeFamilies()
      .filter(({ path }) => path === "" || existsSync(join(copy, path)))
      .filter(
        ({ path, parts }) =>
          !parts.some((name) => locate((at) => existsSync(join(copy, at)), path, name))
      )
      .map(({ path }) => `npm ci ${platform.join(" ")}: no native part of ${path || "Node"}`)
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

const missing = ["package-lock.json", "bench/package-lock.json"].flatMap(missingFrom)
if (process.argv.includes("--install")) {
  for (const platform of platforms) missing.push(...(await missingOn(platform)))
}
for (const line of missing) console.error(line)
if (missing.length > 0) {
  console.error("Make it anew from the package.json files alone, as scripts/check-lock.ts says.")
}
process.exit(missing.length === 0 ? 0 : 1)
