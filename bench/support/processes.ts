import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer } from "node:net"
import { fileURLToPath } from "node:url"
import { listen } from "./listen.ts"

const main = fileURLToPath(new URL("../../packages/server/src/main.ts", import.meta.url))

export interface Server extends AsyncDisposable {
  readonly url: string
  readonly pid: number
  /** The time from the process's start until it can serve its first request. */
  readonly readyMs: number
}

export const appSecret = "the secret of a bench, thirty-two bytes and more"

/** A rate limit that the load never reaches. Requests are counted, but none is rejected. */
const unlimitedRate = "10000000"

/** Starts this service like `npm start`, or with another `script`, in the environment `env`. */
export const startService = (
  env: Readonly<Record<string, string>>,
  script: string = main
): Promise<Server> =>
  start(
    script,
    { APP_SECRET: appSecret, EGRESS_ALLOW: "127.0.0.0/8", RATE_LIMIT: unlimitedRate, ...env },
    "/v1/ready"
  )

export const scriptOfPeer = (name: string): string =>
  fileURLToPath(new URL(`../peers/${name}.ts`, import.meta.url))

/**
 * Starts a program for comparison: a script in `peers/` that listens on `PORT` and serves `/ready`.
 */
export const startPeer = (name: string, env: Readonly<Record<string, string>>): Promise<Server> =>
  start(scriptOfPeer(name), env, "/ready")

const start = async (
  script: string,
  env: Readonly<Record<string, string>>,
  readyPath: string
): Promise<Server> => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const startedAt = performance.now()
  const child = spawn(process.execPath, [script], {
    env: { PATH: process.env["PATH"], NODE_ENV: "production", PORT: String(port), ...env },
    stdio: ["ignore", "ignore", "inherit"]
  })
  await ready(child, url + readyPath)
  return {
    url,
    pid: child.pid ?? 0,
    readyMs: performance.now() - startedAt,
    [Symbol.asyncDispose]: () => stop(child)
  }
}

const ready = async (child: ChildProcess, url: string) => {
  for (let tries = 0; tries < 3_000; tries++) {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} exited with ${child.exitCode}`)
    try {
      if ((await fetch(url)).ok) return
    } catch {
      // The process is not listening yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error(`no response from ${url} within 30 seconds`)
}

const stop = async (child: ChildProcess) => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, "exit")
  child.kill("SIGTERM")
  const killer = setTimeout(() => child.kill("SIGKILL"), 10_000)
  await exited
  clearTimeout(killer)
}

export const freePort = async (): Promise<number> => {
  const server = createServer()
  const port = await listen(server)
  server.close()
  await once(server, "close")
  return port
}

/** Returns a process's resident memory in megabytes, or `NaN` if the system does not report it. */
export const memoryOf = (pid: number): number => {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? []
  return Number(kilobytes) / 1024
}
