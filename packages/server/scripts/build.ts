/**
 * Builds `dist`, the published package: the server with all its dependencies, its threads and the
 * control panel. It runs on plain Node and installs nothing else.
 */
import { execFileSync } from "node:child_process"
import { existsSync, globSync } from "node:fs"
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, join, relative } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { type Plugin, rolldown } from "rolldown"
import lock from "../../../package-lock.json" with { type: "json" }
import manifest from "../package.json" with { type: "json" }

const server = fileURLToPath(new URL("..", import.meta.url))
const root = join(server, "../..")
const dist = join(server, "dist")
const panel = join(root, "packages/panel/dist")
const argon2 = join(root, "node_modules/@node-rs/argon2")

/** Programs of the package, and files that the server starts as threads or processes. */
const entries: Readonly<Record<string, string>> = {
  main: "packages/server/src/main.ts",
  operator: "packages/server/src/operator.ts",
  restore: "packages/server/src/restore.ts",
  move: "packages/server/src/move.ts",
  "embedded-postgres": "packages/server/src/store/embedded/worker.ts",
  initdb: "packages/server/src/store/embedded/initdb.ts",
  calendars: "packages/server/src/tasks/calendars/worker.ts",
  tls: "packages/calls/src/threads/worker.ts"
}

/** Folders that are named by their own path in the sources, and lie beside the code in the package. */
const folders: Readonly<Record<string, string>> = {
  [panel]: "./panel",
  [join(root, "node_modules/.cache/scheduling-service")]: "./.cache"
}

/**
 * All code lies in one folder. This plugin lets `new URL("…", import.meta.url)` name the file there:
 * an entry, or a file that it copies.
 */
const filesBesideCode = (): Plugin => {
  const names = new Map(Object.entries(entries).map(([name, file]) => [join(root, file), name]))
  const copied = new Map<string, string>()
  const nameOf = (file: string): string => {
    const [entry, folder] = [names.get(file), folders[file]]
    if (entry !== undefined) return `./${entry}.js`
    if (folder !== undefined) return folder
    if (!existsSync(file) || file.endsWith(".ts")) throw new Error(`${file} is not in the package`)
    const name = basename(file)
    if ((copied.get(name) ?? file) !== file) throw new Error(`two files have the name ${name}`)
    copied.set(name, file)
    return `./${name}`
  }
  return {
    name: "files-beside-code",
    resolveId: (source) =>
      source === "@node-rs/argon2" ? { id: "./argon2/index.cjs", external: "relative" } : null,
    transform: (code, id) =>
      code.replaceAll(
        /new URL\(\s*"([^"]+\.[^"]+)",\s*import\.meta\.url\s*\)/g,
        (_, path: string) =>
          `new URL("${nameOf(fileURLToPath(new URL(path, pathToFileURL(id))))}", import.meta.url)`
      ),
    writeBundle: async () => {
      for (const [name, file] of copied) await cp(file, join(dist, name))
    }
  }
}

/** Bundles the code, and returns the files of the sources in it. */
const bundleCode = async (): Promise<ReadonlyArray<string>> => {
  const input = Object.fromEntries(
    Object.entries(entries).map(([name, file]) => [name, join(root, file)])
  )
  const bundle = await rolldown({
    input,
    platform: "node",
    plugins: [filesBesideCode()],
    // PGlite calls it in code that its engine generates.
    checks: { eval: false }
  })
  const { output } = await bundle.write({
    dir: dist,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js"
  })
  await bundle.close()
  return output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []))
}

/**
 * Copies Argon2 with its binaries for all platforms, so that the package needs neither a registry nor
 * a compiler. Its loader looks for them in its own folder first. npm installs only the binary of this
 * machine, so the others are downloaded, and compared with the lock file.
 */
const copyArgon2 = async (): Promise<void> => {
  const to = join(dist, "argon2")
  await mkdir(to)
  await cp(join(argon2, "index.js"), join(to, "index.cjs"))
  const packages = Object.entries(lock.packages).flatMap(([path, locked]) =>
    path.startsWith("node_modules/@node-rs/argon2-") && "integrity" in locked
      ? [{ name: path.replace("node_modules/", ""), ...locked }]
      : []
  )
  const folder = await mkdtemp(join(tmpdir(), "scheduling-argon2-"))
  try {
    const specs = packages.map(({ name, version }) => `${name}@${version}`)
    const options = ["pack", "--json", "--prefer-offline", "--pack-destination", folder]
    const packed: ReadonlyArray<{ filename: string; integrity: string }> = JSON.parse(
      execFileSync("npm", [...options, ...specs], { cwd: folder, encoding: "utf8" })
    )
    const expected = new Set(packages.map(({ integrity }) => integrity))
    for (const { filename, integrity } of packed) {
      if (!expected.delete(integrity))
        throw new Error(`${filename} is not the one of the lock file`)
      execFileSync("tar", ["-xzf", filename], { cwd: folder })
      const [binary = ""] = globSync("package/*.node", { cwd: folder })
      await cp(join(folder, binary), join(to, basename(binary)))
      await rm(join(folder, "package"), { recursive: true })
    }
    if (expected.size > 0) throw new Error(`npm did not pack ${expected.size} binaries of Argon2`)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Writes the licenses of the packages whose code is in the bundle. */
const writeLicenses = async (modules: ReadonlyArray<string>): Promise<void> => {
  const packages = new Set([relative(root, argon2)])
  for (const module of modules) {
    const [path] = /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(relative(root, module)) ?? []
    if (path !== undefined) packages.add(path)
  }
  const texts = await Promise.all(
    [...packages].toSorted().map(async (path) => {
      const folder = join(root, path)
      const { license, name, version } = JSON.parse(
        await readFile(join(folder, "package.json"), "utf8")
      )
      const [file] = globSync("{LICENSE,LICENCE,License,license}*", { cwd: folder })
      const text = file === undefined ? "" : await readFile(join(folder, file), "utf8")
      return `${name} ${version} (${license})\n\n${text.trim()}`
    })
  )
  await writeFile(
    join(dist, "THIRD-PARTY-LICENSES"),
    `${texts.join(`\n\n${"-".repeat(80)}\n\n`)}\n`
  )
}

/** npm attests the origin of a package only if the package names its repository. */
const repository = (): object => {
  const { GITHUB_REPOSITORY: of, GITHUB_SERVER_URL: url } = process.env
  if (of === undefined || url === undefined) return {}
  return {
    repository: { type: "git", url: `git+${url}/${of}.git`, directory: "packages/server" }
  }
}

if (!existsSync(join(panel, "index.html"))) {
  throw new Error("the control panel is not built: run `node packages/panel/scripts/build.ts`")
}
await rm(dist, { recursive: true, force: true })
const modules = await bundleCode()
await copyArgon2()
await writeLicenses(modules)
await cp(panel, join(dist, "panel"), { recursive: true })
await cp(join(server, "start.cjs"), join(dist, "start.cjs"))
await chmod(join(dist, "start.cjs"), 0o755)
await cp(join(server, "README.md"), join(dist, "README.md"))
await cp(join(root, "LICENSE"), join(dist, "LICENSE"))
const published = {
  // `npm pack` names the tarball scheduling-service-<version>.tgz.
  name: "@scheduling/service",
  version: manifest.version,
  description: "A self-hosted, API-first service that runs scheduled HTTP work.",
  license: manifest.license,
  ...repository(),
  type: "module",
  bin: { "scheduling-service": "start.cjs" },
  engines: { node: ">=22.19" },
  publishConfig: { access: "public" }
}
await writeFile(join(dist, "package.json"), `${JSON.stringify(published, null, 2)}\n`)
