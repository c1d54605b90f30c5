/**
 * Makes `dist`, the package as it is published: the compiled sources with what they need of
 * `@scheduling/domain`, and a package.json that points at them. In the repository `@scheduling/sdk`
 * stays the sources, so nothing there depends on a build.
 */
import { execFileSync } from "node:child_process"
import { globSync } from "node:fs"
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import manifest from "../package.json" with { type: "json" }

const sdk = fileURLToPath(new URL("..", import.meta.url))
const dist = join(sdk, "dist")
const tsc = join(sdk, "../../node_modules/.bin/tsc")

const emitted = await mkdtemp(join(tmpdir(), "scheduling-sdk-"))
try {
  execFileSync(
    process.execPath,
    [tsc, "-p", join(sdk, "tsconfig.build.json"), "--outDir", emitted],
    {
      stdio: "inherit"
    }
  )
  await rm(dist, { recursive: true, force: true })
  await cp(join(emitted, "sdk/src"), dist, { recursive: true })
  await cp(join(emitted, "domain/src"), join(dist, "domain"), { recursive: true })
} finally {
  await rm(emitted, { recursive: true, force: true })
}

/** `@scheduling/domain/x` → its copy in `dist/domain`, and `./y.ts`, which declarations keep, → `./y.js`. */
const published = (file: string, specifier: string): string => {
  const [, module] = /^@scheduling\/domain\/(.+)$/.exec(specifier) ?? []
  if (module === undefined) return specifier.replace(/^(\..*)\.ts$/, "$1.js")
  const path = relative(dirname(file), `domain/${module}.js`)
  return path.startsWith(".") ? path : `./${path}`
}

const files = new Set(globSync("**/*.{js,d.ts}", { cwd: dist }))
for (const file of files) {
  const source = await readFile(join(dist, file), "utf8")
  const code = source.replaceAll(
    /(\bfrom |\bimport |\bimport\()"([^"]+)"/g,
    (_, before: string, specifier: string) => {
      const target = published(file, specifier)
      if (target.startsWith(".") && !files.has(join(dirname(file), target))) {
        throw new Error(`${file} imports ${specifier}, which was not built`)
      }
      return `${before}"${target}"`
    }
  )
  await writeFile(join(dist, file), code)
}

const entry = (name: string) => ({ types: `./${name}.d.ts`, default: `./${name}.js` })
const { description, keywords, license, name, sideEffects, type, version } = manifest

await writeFile(
  join(dist, "package.json"),
  JSON.stringify(
    {
      name,
      version,
      description,
      keywords,
      license,
      type,
      sideEffects,
      exports: {
        ".": entry("index"),
        "./effect": entry("effect"),
        "./webhooks": entry("webhooks"),
        "./package.json": "./package.json"
      },
      files: ["**/*.js", "**/*.d.ts"],
      engines: { node: ">=20" },
      // Its http-api may break in a minor.
      peerDependencies: {
        effect: manifest.dependencies.effect.replace(/^(\d+\.\d+)\..*$/, "~$1.0")
      },
      peerDependenciesMeta: { effect: { optional: true } }
    },
    null,
    2
  ) + "\n"
)
await cp(join(sdk, "README.md"), join(dist, "README.md"))
await cp(join(sdk, "../../LICENSE"), join(dist, "LICENSE"))
