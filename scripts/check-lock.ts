/**
 * Checks that the lock file works on all platforms. If `node_modules` is already installed when npm
 * creates the lock file, the file lists native packages only for this machine. So every package
 * must have a hash, every optional package must be listed, and a dry run of npm must succeed for
 * other platforms. To create a lock file, copy the `package.json` files into an empty folder and
 * run `npm install --package-lock-only` there.
 */
import { execFileSync } from "node:child_process"
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, posix } from "node:path"

interface Package {
  readonly version?: string
  readonly link?: boolean
  /** True if the package is bundled with another package, whose hash covers it. */
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

/** Resolves a package as Node does: in the importing package, then in each parent folder. */
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

const packages = packagesOf("package-lock.json")

const inLock = (from: string, name: string) => locate((path) => path in packages, from, name)

/** Packages with one native package per platform, and the paths of those native packages. */
const nativeFamilies = Object.entries(packages).flatMap(([path, one]) => {
  const parts = Object.keys(one.optionalDependencies ?? {})
    .map((name) => inLock(path, name) ?? "")
    .filter((part) => packages[part]?.os !== undefined)
  return parts.length > 1 ? [{ path, parts }] : []
})

/** Returns the line that npm prints when it would install a package. */
const lineOf = (path: string) =>
  `add ${path.replace(/^.*node_modules\//, "")} ${packages[path]?.version}`

const missingOn = (platform: ReadonlyArray<string>): ReadonlyArray<string> => {
  // In a folder with `node_modules`, npm would list only missing packages.
  const copy = mkdtempSync(join(tmpdir(), "lock-"))
  try {
    const manifests = Object.keys(packages)
      .filter((path) => !path.includes("node_modules/"))
      .map((path) => join(path, "package.json"))
    for (const file of [".npmrc", "package-lock.json", ...manifests]) {
      cpSync(join(root, file), join(copy, file))
    }
    // Set the log level, because `npm run --silent` sets an environment variable that would silence
    // this npm too.
    const args = ["ci", "--dry-run", "--loglevel=notice", "--ignore-scripts", ...platform]
    const said = execFileSync("npm", args, {
      cwd: copy,
      encoding: "utf8",
      // Show warnings only if npm fails.
      stdio: "pipe",
      shell: process.platform === "win32"
    })
    const lines = new Set(said.split("\n"))
    return nativeFamilies
      .filter(({ path }) => path === "" || lines.has(lineOf(path)))
      .filter(({ parts }) => !parts.some((part) => lines.has(lineOf(part))))
      .map(({ path }) => `npm ci ${platform.join(" ")}: no native part of ${path || "Node"}`)
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

const unnamed = ["package-lock.json", "bench/package-lock.json"].flatMap(missingFrom)
const missing = unnamed.length > 0 ? unnamed : platforms.flatMap(missingOn)
for (const line of missing) console.error(line)
if (missing.length > 0) {
  console.error("Make it anew from the package.json files alone, as scripts/check-lock.ts says.")
}
process.exit(missing.length === 0 ? 0 : 1)
