/**
 * Builds `dist`, the published package: one file that runs on plain Node and contains all its
 * dependencies.
 */
import { chmod, cp, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"
import manifest from "../package.json" with { type: "json" }
import { commands } from "../src/commands.ts"
import { manPage } from "../src/manPage.ts"

const cli = fileURLToPath(new URL("..", import.meta.url))
const dist = join(cli, "dist")
const file = join(dist, "scheduling.js")

await rm(dist, { recursive: true, force: true })
const bundle = await rolldown({ input: join(cli, "src/main.ts"), platform: "node" })
await bundle.write({ file, format: "esm", codeSplitting: false, minify: true })
await bundle.close()
await chmod(file, 0o755)

/** npm attests the origin of a package only if the package names its repository. */
const repository = (): object => {
  const { GITHUB_REPOSITORY: of, GITHUB_SERVER_URL: server } = process.env
  if (of === undefined || server === undefined) return {}
  return {
    repository: { type: "git", url: `git+${server}/${of}.git`, directory: "packages/cli" }
  }
}

const { description, license, name, version } = manifest
const published = {
  name,
  version,
  description,
  license,
  ...repository(),
  type: "module",
  bin: { scheduling: "scheduling.js" },
  man: ["scheduling.1"],
  files: ["scheduling.1", "scheduling.js"],
  engines: { node: ">=22.19" },
  publishConfig: { access: "public" }
}
await writeFile(join(dist, "scheduling.1"), manPage(commands, version))
await writeFile(join(dist, "package.json"), `${JSON.stringify(published, null, 2)}\n`)
await cp(join(cli, "README.md"), join(dist, "README.md"))
await cp(join(cli, "../../LICENSE"), join(dist, "LICENSE"))
