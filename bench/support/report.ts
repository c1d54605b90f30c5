import { execFileSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { availableParallelism, cpus, release, totalmem, type as system } from "node:os"
import { fileURLToPath } from "node:url"
import packageJson from "../package.json" with { type: "json" }
import { postgresVersion } from "./database.ts"
import { loadGenerator } from "./load.ts"

export interface Report {
  readonly title: string
  /** A description of the measured work. */
  readonly work: string
  readonly columns: ReadonlyArray<string>
  readonly rows: ReadonlyArray<ReadonlyArray<string>>
  readonly goal: string
  readonly result: string
}

export const markdownOf = ({ columns, goal, result, rows, title, work }: Report): string =>
  [
    `## ${title}`,
    "",
    work,
    "",
    `| ${columns.join(" | ")} |`,
    `|${columns.map((_, n) => (n === 0 ? "---" : "---:")).join("|")}|`,
    ...rows.map((row) => `| ${row.join(" | ")} |`),
    "",
    `Goal: ${goal}. **Result: ${result}.**`,
    ""
  ].join("\n")

const git = (...args: ReadonlyArray<string>) =>
  execFileSync("git", [...args], { encoding: "utf8" }).trim()

const machine = async (): Promise<string> => {
  const changed = git("status", "--porcelain", "--untracked-files=no") === "" ? "" : ", changed"
  return [
    `- ${availableParallelism()} × ${cpus()[0]?.model ?? "unknown processor"}, ` +
      `${Math.round(totalmem() / 2 ** 30)} GiB, ${system()} ${release()}; ` +
      `load generator, PostgreSQL and servers share it`,
    `- Node ${process.version}, PostgreSQL ${await postgresVersion()}, ${loadGenerator}`,
    `- ${Object.entries(packageJson.devDependencies)
      .filter(([name]) => !name.startsWith("@types/"))
      .map(([name, version]) => `${name} ${version}`)
      .join(", ")}`,
    `- commit ${git("rev-parse", "--short", "HEAD")}${changed}`
  ].join("\n")
}

/** Saves the printed tables and the setup. Returns the file's path. */
export const saveReports = async (
  command: string,
  reports: ReadonlyArray<Report>
): Promise<string> => {
  const startedAt = new Date().toISOString().slice(0, 16).replace(":", "")
  const folder = new URL("../results/", import.meta.url)
  mkdirSync(folder, { recursive: true })
  const file = fileURLToPath(new URL(`${startedAt}.md`, folder))
  writeFileSync(
    file,
    [
      `# ${startedAt.slice(0, 10)}: \`${command}\``,
      "",
      await machine(),
      "",
      ...reports.map(markdownOf)
    ].join("\n")
  )
  return file
}
