/**
 * Builds `dist`, the published package: the compiled sources with the required parts of
 * `@scheduling/domain` and `@scheduling/schedules`, as ES modules and CommonJS, and a package.json.
 * Within the repository, `@scheduling/sdk` resolves to the sources, so nothing there depends on a
 * build.
 */
import { execFileSync } from "node:child_process"
import { globSync } from "node:fs"
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import manifest from "../package.json" with { type: "json" }

const sdk = fileURLToPath(new URL("..", import.meta.url))
const dist = join(sdk, "dist")
const tsc = join(sdk, "../../node_modules/.bin/tsc")

/** Each format has its own folder, whose package.json declares the format. */
const formats = [
  { folder: "esm", type: "module", config: "tsconfig.build.json" },
  { folder: "cjs", type: "commonjs", config: "tsconfig.cjs.json" }
] as const

type Format = (typeof formats)[number]

const compile = async ({ config, folder }: Format): Promise<void> => {
  const emitted = await mkdtemp(join(tmpdir(), "scheduling-sdk-"))
  try {
    // Comments are kept only in the declarations, which editors read.
    for (const flags of [
      ["--removeComments", "--declaration", "false"],
      ["--emitDeclarationOnly"]
    ]) {
      const args = [tsc, "-p", join(sdk, config), "--outDir", emitted, ...flags]
      execFileSync(process.execPath, args, { stdio: "inherit" })
    }
    await cp(join(emitted, "sdk/src"), join(dist, folder), { recursive: true })
    for (const name of await readdir(emitted)) {
      if (name === "sdk") continue
      await cp(join(emitted, name, "src"), join(dist, folder, name), { recursive: true })
    }
  } finally {
    await rm(emitted, { recursive: true, force: true })
  }
}

/** `@scheduling/domain/x` → its copy in `domain`, and `./y.ts`, which declarations keep, → `./y.js`. */
const published = (file: string, specifier: string): string => {
  const [, module] = /^@scheduling\/(.+)$/.exec(specifier) ?? []
  if (module === undefined) return specifier.replace(/^(\..*)\.ts$/, "$1.js")
  const path = relative(dirname(file), `${module}.js`)
  return path.startsWith(".") ? path : `./${path}`
}

const link = async (root: string): Promise<void> => {
  const files = new Set(globSync("**/*.{js,d.ts}", { cwd: root }))
  for (const file of files) {
    const source = await readFile(join(root, file), "utf8")
    const code = source.replaceAll(
      /(\bfrom |\bimport |\bimport\(|\brequire\()"([^"]+)"/g,
      (_, before: string, specifier: string) => {
        const target = published(file, specifier)
        if (target.startsWith(".") && !files.has(join(dirname(file), target))) {
          throw new Error(`${file} imports ${specifier}, which was not built`)
        }
        return `${before}"${target}"`
      }
    )
    await writeFile(join(root, file), code)
  }
}

const writeJson = (file: string, value: unknown): Promise<void> =>
  writeFile(join(dist, file), JSON.stringify(value, null, 2) + "\n")

const entry = (name: string) => {
  const of = (folder: string) => ({
    types: `./${folder}/${name}.d.ts`,
    default: `./${folder}/${name}.js`
  })
  return { require: of("cjs"), default: of("esm") }
}

/** npm provenance requires that the package names its repository. */
const repository = (): object => {
  const { GITHUB_REPOSITORY: name, GITHUB_SERVER_URL: server } = process.env
  if (name === undefined || server === undefined) return {}
  return {
    repository: { type: "git", url: `git+${server}/${name}.git`, directory: "packages/sdk" }
  }
}

await rm(dist, { recursive: true, force: true })
for (const format of formats) {
  await compile(format)
  await link(join(dist, format.folder))
  await writeJson(`${format.folder}/package.json`, {
    type: format.type,
    sideEffects: manifest.sideEffects
  })
}

const { description, keywords, license, name, sideEffects, version } = manifest

await writeJson("package.json", {
  name,
  version,
  description,
  keywords,
  license,
  ...repository(),
  sideEffects,
  // For tools that do not support `exports`.
  main: "./cjs/index.js",
  types: "./cjs/index.d.ts",
  exports: {
    ".": entry("index"),
    // ES modules only, like Effect. The Node versions that Effect supports can also `require` ES
    // modules.
    "./effect": { types: "./esm/effect.d.ts", default: "./esm/effect.js" },
    "./webhooks": entry("webhooks"),
    "./package.json": "./package.json"
  },
  files: ["**/*.js", "**/*.d.ts", "*/package.json"],
  engines: { node: ">=20" },
  // Effect's http-api may have breaking changes in a minor version.
  peerDependencies: {
    effect: manifest.dependencies.effect.replace(/^(\d+\.\d+)\..*$/, "~$1.0")
  },
  peerDependenciesMeta: { effect: { optional: true } },
  publishConfig: { access: "public" }
})
await cp(join(sdk, "README.md"), join(dist, "README.md"))
await cp(join(sdk, "../../LICENSE"), join(dist, "LICENSE"))
