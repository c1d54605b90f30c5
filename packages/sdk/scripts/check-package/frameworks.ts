import { SchedulingClient } from "@scheduling/sdk"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { freePort, startServer } from "../../test/support/server.ts"
import { npmInstall, run, printLine, writeFiles } from "../command.ts"
import type { Block } from "./readme.ts"

const packages = [
  "express@5.3.0",
  "express4@npm:express@4.22.3",
  "fastify@5.12.8",
  "hono@4.13.19",
  "@hono/node-server@2.1.8",
  "next@16.4.6",
  "react@19.3.1",
  "react-dom@19.3.1",
  "typescript@5.9.3",
  "@types/express@5.0.6",
  "@types/node@24.19.2",
  "@types/react@19.3.0"
]

const tsconfig = {
  compilerOptions: {
    strict: true,
    target: "ES2022",
    module: "nodenext",
    // The frameworks' own declarations are not ours to check.
    skipLibCheck: true,
    types: ["node"],
    outDir: "out"
  },
  include: ["*.ts"]
}

/** The recipes that also take events. */
const unwraps: ReadonlySet<string> = new Set(["Express 5", "Express 4", "Fastify"])

/** The command that starts each recipe, keyed by the name in its first line. */
const programs = {
  "Express 5": ["out/express.js"],
  "Express 4": ["out/express4.js"],
  Fastify: ["out/fastify.js"],
  Hono: ["out/hono.js"],
  Next: ["node_modules/next/dist/bin/next", "start"]
} as const

const files = ["express.ts", "fastify.ts", "hono.ts", "app/webhooks/route.ts"]

/** Starts the recipe of each framework, has the service call it, and checks the responses. */
export const checkFrameworks = async (
  recipes: ReadonlyArray<Block>,
  tarball: string
): Promise<void> => {
  const missing = files.filter((file) => !recipes.some(({ name }) => name === file))
  if (missing.length > 0) throw new Error(`The README has no recipe ${missing.join(", ")}`)
  const project = await mkdtemp(join(tmpdir(), "scheduling-frameworks-"))
  try {
    await build(project, recipes, tarball)
    // The server starts after the build, which blocks this process for so long that open
    // connections would time out.
    await using server = await startServer()
    const client = await newAccount(server.url)
    for (const [name, args] of Object.entries(programs)) {
      await checkOne(name, args, project, client)
      printLine(`verifies with ${name}`)
    }
  } finally {
    await rm(project, { recursive: true, force: true })
  }
}

const build = async (
  project: string,
  recipes: ReadonlyArray<Block>,
  tarball: string
): Promise<void> => {
  await writeFiles(project, {
    "package.json": { private: true, type: "module" },
    "tsconfig.json": tsconfig,
    ...Object.fromEntries(recipes.map(({ code, name }) => [name, code]))
  })
  npmInstall(project, [...packages, tarball])
  const tsc = join(project, "node_modules/typescript/bin/tsc")
  run("TypeScript on the recipes", process.execPath, [tsc, "-p", "."], project)
  const express = await readFile(join(project, "out/express.js"), "utf8")
  await writeFiles(project, { "out/express4.js": express.replace('"express"', '"express4"') })
  // Next wants to write this configuration itself.
  await rm(join(project, "tsconfig.json"))
  const next = join(project, "node_modules/next/dist/bin/next")
  run("next build", process.execPath, [next, "build"], project, environment({}))
}

const environment = (variables: NodeJS.ProcessEnv): NodeJS.ProcessEnv => {
  const { HOME, PATH } = process.env
  return { HOME, PATH, NEXT_TELEMETRY_DISABLED: "1", NODE_ENV: "production", ...variables }
}

const newAccount = (baseUrl: string): Promise<SchedulingClient> => {
  const email = `${crypto.randomUUID()}@example.com`
  return SchedulingClient.register({ email, password: "a password for tests", baseUrl })
}

const calls = [
  { method: "POST", body: '{"full":true,"name":"Zoë"}' },
  { method: "POST", body: "plain", headers: { "content-type": "text/plain" } },
  // The maximum length of a task's body, which is more than some parsers accept by default.
  { method: "POST", body: JSON.stringify("x".repeat(256 * 1024 - 2)) },
  { method: "POST" },
  { method: "GET" }
] as const

const checkOne = async (
  name: string,
  args: ReadonlyArray<string>,
  project: string,
  client: SchedulingClient
): Promise<void> => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/webhooks`
  const [secret] = (await client.workspaces.getSigningSecrets({ url })).data
  if (secret === undefined) throw new Error("The workspace has no signing secret")
  const env = environment({
    PORT: String(port),
    SCHEDULING_CALL_SECRET: secret.call_secret,
    SCHEDULING_MESSAGE_SECRET: secret.message_secret
  })
  const child = spawn(process.execPath, args, {
    cwd: project,
    env,
    stdio: ["ignore", "ignore", "inherit"]
  })
  try {
    const forged = await answerOf(url, AbortSignal.timeout(60_000))
    if (forged !== 401) throw new Error(`${name} answers a forged call with ${forged}`)
    for (const call of calls) await checkCall(name, { ...call, url }, client)
    if (unwraps.has(name)) await checkEvent(name, url, client)
  } finally {
    child.kill("SIGKILL")
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit")
  }
}

/** Repeats the request until a server listens, and returns the status of the response. */
const answerOf = async (url: string, signal: AbortSignal): Promise<number> => {
  const headers = { "webhook-id": "x", "webhook-timestamp": "0", "webhook-signature": "v1,AAAA" }
  for (;;) {
    signal.throwIfAborted()
    try {
      const { status } = await fetch(url, { method: "POST", body: "{}", headers, signal })
      return status
    } catch {
      await pause(100)
    }
  }
}

const checkCall = async (
  name: string,
  call: (typeof calls)[number] & { readonly url: string },
  client: SchedulingClient
): Promise<void> => {
  const task = await client.cron.create({ name: "recipe", schedule: "0 0 1 1 *", ...call })
  const { id } = await client.cron.run(task.id)
  const { error, status } = await client.executions.get(id, { wait_seconds: 30 })
  if (status === "succeeded") return
  const body = "body" in call ? call.body.slice(0, 30) : "no body"
  throw new Error(`${name}, ${call.method} with ${body}: ${status}, ${error?.message}`)
}

/** A callback is delivered only if the recipe has verified it. */
const checkEvent = async (name: string, url: string, client: SchedulingClient): Promise<void> => {
  const events = url.replace(/webhooks$/, "events")
  const forged = await answerOf(events, AbortSignal.timeout(10_000))
  if (forged !== 401) throw new Error(`${name} answers a forged event with ${forged}`)
  const schedule = "0 0 1 1 *"
  const task = await client.cron.create({ name, schedule, url, on_success: { url: events } })
  await client.cron.runAndWait(task.id)
  for (const signal = AbortSignal.timeout(30_000); ; await pause(200)) {
    signal.throwIfAborted()
    const { data } = await client.notifications.listDeliveries({ kind: "callback" })
    const delivery = data.find(({ events: [event] }) => event?.subject_id === task.id)
    if (delivery?.status === "delivered") return
    if (delivery?.status === "failed") throw new Error(`${name}, an event: ${delivery.error}`)
  }
}
