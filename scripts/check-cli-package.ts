/**
 * Checks the command-line package before it is published. Builds and packs it, installs the tarball
 * in an empty folder, and runs it there, including with a real service.
 */
import { spawnSync } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { env } from "node:process"
import { fileURLToPath } from "node:url"
import { run, printLine, writeFiles } from "../packages/sdk/scripts/command.ts"
import { SchedulingClient } from "../packages/sdk/src/index.ts"
import { startServer } from "../packages/sdk/test/support/server.ts"

const cli = fileURLToPath(new URL("../packages/cli", import.meta.url))
const project = await mkdtemp(join(tmpdir(), "scheduling-cli-package-"))

const install = async () => {
  run("The build", process.execPath, [join(cli, "scripts/build.ts")], cli)
  const pack = ["pack", "--json", "--pack-destination", project]
  const [tarball] = JSON.parse(run("npm pack", "npm", pack, join(cli, "dist")))
  printLine(`packed ${tarball.entryCount} files, ${tarball.size} bytes`)
  await writeFiles(project, { "package.json": { private: true } })
  const options = ["--offline", "--no-audit", "--no-fund"]
  run("npm install", "npm", ["install", ...options, tarball.filename], project)
  const lock = await readFile(join(project, "package-lock.json"), "utf8")
  const others = Object.keys(JSON.parse(lock).packages).filter(
    (path) => path !== "" && path !== "node_modules/@scheduling/cli"
  )
  if (others.length > 0) throw new Error(`it installs more than itself: ${others.join(", ")}`)
}

/** Runs the command as users do. Fails unless it exits with this code and prints this text. */
const expectOf = (
  args: ReadonlyArray<string>,
  code: number,
  text: string,
  settings: Readonly<Record<string, string>> = {}
) => {
  const program = join(project, "node_modules/.bin/scheduling")
  const { status, stderr, stdout } = spawnSync(program, args, {
    cwd: project,
    encoding: "utf8",
    env: { ...env, XDG_CONFIG_HOME: project, ...settings },
    timeout: 60_000
  })
  if (status !== code || !(stdout + stderr).includes(text)) {
    throw new Error(
      `scheduling ${args.join(" ")} ended with ${status} and said:\n${stdout}${stderr}`
    )
  }
  printLine(`scheduling ${args[0]}: ${code}`)
}

/**
 * Returns a command's CPU time in seconds. This is the lowest of five runs, because other load on
 * the machine increases it.
 */
const cpuSeconds = (command: string) => {
  const seconds = Array.from({ length: 5 }, () => {
    const said = run("A start", "bash", ["-c", `${command} > /dev/null; times`], project)
    const [, children = ""] = said.trim().split("\n")
    return [...children.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
      (sum, [, minutes, rest]) => sum + Number(minutes) * 60 + Number(rest),
      0
    )
  })
  return Math.min(...seconds)
}

const inMs = (seconds: number) => `${Math.round(seconds * 1000)} ms`

/**
 * Fails if starting the command takes too long. The limit is relative to the time that Node alone
 * takes to start, because machines differ.
 */
const checkStart = () => {
  const program = join(project, "node_modules/.bin/scheduling")
  const start = cpuSeconds(`"${program}" --version`)
  const node = cpuSeconds(`"${process.execPath}" -e 0`)
  const took = `a start takes ${inMs(start)} of CPU time, Node alone ${inMs(node)}`
  if (start > maxStartsOfNode * node) throw new Error(took)
  printLine(took)
}

const maxStartsOfNode = 4

try {
  await install()
  checkStart()
  expectOf(["--help"], 0, "Exit statuses")
  expectOf(["next", "0 3 * * *", "--from", "2027-01-01T00:00:00Z"], 0, "2027-01-01T03:00")
  {
    await using server = await startServer()
    const account = { email: "cli@example.com", password: "a password for tests" }
    const client = await SchedulingClient.register({ ...account, baseUrl: server.url })
    const { key } = await client.apiKeys.create({
      name: "cli",
      scopes: ["tasks:read", "tasks:write"]
    })
    const settings = { SCHEDULING_URL: server.url, SCHEDULING_API_KEY: key }
    await writeFiles(project, {
      "scheduling.yaml": { version: 1, queues: [{ key: "a", name: "a", max_concurrency: 1 }] }
    })
    expectOf(["plan"], 2, "1 to create", settings)
    expectOf(["apply"], 0, "Applied.", settings)
    expectOf(["exec", "a", "--", "sh", "-c", "exit 3"], 3, "", settings)
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
} finally {
  await rm(project, { recursive: true, force: true })
}
