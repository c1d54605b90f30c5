/**
 * Prints a release's notes from the changelog: `node scripts/release-notes.ts v1.2.3`. Fails if the
 * tag, the package versions and the changelog do not match, so that nothing is published with a
 * wrong version.
 */
import { readFile } from "node:fs/promises"
import { pathToFileURL } from "node:url"

const packages = ["agent", "calls", "cli", "domain", "openapi", "schedules", "sdk", "server"]
const manifests = ["", ...packages.map((name) => `packages/${name}/`)].map(
  (folder) => `${folder}package.json`
)

/** Returns a version's notes, or why the version cannot be released. */
export const releaseNotes = (
  tag: string,
  versions: Readonly<Record<string, string>>,
  changelog: string
): { readonly notes: string } | { readonly problem: string } => {
  const [, version] = /^v(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)$/.exec(tag) ?? []
  if (version === undefined) return { problem: `${tag} is not a tag such as v1.2.3` }
  const other = Object.entries(versions).find(([, found]) => found !== version)
  if (other !== undefined) {
    return { problem: `${other[0]} has the version ${other[1]}, not ${version}` }
  }
  const sections = changelog.split(/^## /m).slice(1)
  const section = sections.find((one) => one.startsWith(`[${version}]`))
  if (section === undefined) return { problem: `CHANGELOG.md has no section [${version}]` }
  const [title = "", ...lines] = section.split("\n")
  if (!/ - \d{4}-\d{2}-\d{2}$/.test(title)) {
    return { problem: `The section of CHANGELOG.md is to be titled [${version}] - YYYY-MM-DD` }
  }
  const notes = lines.join("\n").trim()
  return notes === "" ? { problem: `CHANGELOG.md says nothing of ${version}` } : { notes }
}

const main = async (tag: string): Promise<void> => {
  const root = new URL("../", import.meta.url)
  const read = (file: string) => readFile(new URL(file, root), "utf8")
  const versions: Record<string, string> = {}
  for (const manifest of manifests) versions[manifest] = JSON.parse(await read(manifest)).version
  const result = releaseNotes(tag, versions, await read("CHANGELOG.md"))
  if ("notes" in result) {
    process.stdout.write(`${result.notes}\n`)
  } else {
    process.stderr.write(`${result.problem}\n`)
    process.exitCode = 1
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await main(process.argv[2] ?? "")
