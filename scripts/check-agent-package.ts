/**
 * Checks the agent's package before it is published. Builds and packs it, installs the tarball in
 * an empty folder, and runs it there, including with a real service.
 */
import { spawnSync } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { run, printLine, writeFiles } from "../packages/sdk/scripts/command.ts"
import { startServer } from "../packages/sdk/test/support/server.ts"
import { workerToken } from "./workerToken.ts"

const agent = fileURLToPath(new URL("../packages/agent", import.meta.url))
const project = await mkdtemp(join(tmpdir(), "scheduling-agent-package-"))

const install = async () => {
  run("The build", process.execPath, [join(agent, "scripts/build.ts")], agent)
  const pack = ["pack", "--json", "--pack-destination", project]
  const [tarball] = JSON.parse(run("npm pack", "npm", pack, join(agent, "dist")))
  printLine(`packed ${tarball.entryCount} files, ${tarball.size} bytes`)
  await writeFiles(project, { "package.json": { private: true } })
  const options = ["--offline", "--no-audit", "--no-fund"]
  run("npm install", "npm", ["install", ...options, tarball.filename], project)
  const lock = await readFile(join(project, "package-lock.json"), "utf8")
  const others = Object.keys(JSON.parse(lock).packages).filter(
    (path) => path !== "" && path !== "node_modules/@scheduling/agent"
  )
  if (others.length > 0) throw new Error(`it installs more than itself: ${others.join(", ")}`)
}

/** Runs the command as users do. Fails unless it exits with this code and prints these strings. */
const expectOf = (args: ReadonlyArray<string>, code: number, ...texts: ReadonlyArray<string>) => {
  const { status, stderr, stdout } = spawnSync(
    "npx",
    ["--no-install", "scheduling-agent", ...args],
    { cwd: project, encoding: "utf8", timeout: 60_000 }
  )
  const said = stdout + stderr
  const missing = texts.filter((text) => !said.includes(text))
  if (status !== code || missing.length > 0) {
    throw new Error(`scheduling-agent ${args.join(" ")} ended with ${status} and said:\n${said}`)
  }
  printLine(`scheduling-agent ${args[0]}: ${code}`)
}

try {
  await install()
  expectOf(["--help"], 0, "run", "check", "status")
  expectOf(["run", "--help"], 0, "--allow", "--drain-seconds")
  {
    await using server = await startServer()
    const token = await workerToken(server.url)
    expectOf(["check", "--url", server.url, "--token", token], 0, "token      ok")
    const wrong = `${token.slice(0, -4)}AAAA`
    expectOf(["check", "--url", server.url, "--token", wrong], 2, "rejected")
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
} finally {
  await rm(project, { recursive: true, force: true })
}
