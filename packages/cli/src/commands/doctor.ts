import { SchedulingClient } from "@scheduling/sdk"
import manifest from "../../package.json" with { type: "json" }
import { now } from "../clock.ts"
import { type Command, exitStatus } from "../Command.ts"
import { formatCell, green, print, printJson, red } from "../output.ts"
import { currentContext, makeClient } from "../session.ts"

interface Check {
  readonly check: string
  readonly ok: boolean
  readonly result: string
}

const attempt = async (check: string, work: () => Promise<string>): Promise<Check> => {
  try {
    return { check, ok: true, result: await work() }
  } catch (error) {
    return { check, ok: false, result: error instanceof Error ? error.message : String(error) }
  }
}

/**
 * The maximum difference between this machine's clock and the service's clock. Tokens and
 * signatures are rejected if the difference is a few minutes.
 */
const maxDifferenceSeconds = 30

const clockOf = async (url: string): Promise<string> => {
  const { headers } = await fetch(new URL("/v1/health", url), {
    signal: AbortSignal.timeout(10_000)
  })
  const seconds = Math.round((Date.parse(headers.get("date") ?? "") - now()) / 1_000)
  const text = `differs by ${Math.abs(seconds)} s`
  if (Math.abs(seconds) > maxDifferenceSeconds) throw new Error(`${text}: set the clock`)
  return text
}

export const doctor: Command = {
  name: "doctor",
  summary: "Checks the connection, the clock and the credential.",
  options: { json: { description: "Prints one JSON object per check." } },
  examples: ["scheduling doctor", "scheduling doctor --json"],
  run: async (given) => {
    const context = currentContext()
    const { url } = context
    const anonymous = new SchedulingClient({ baseUrl: url, tokens: undefined, maxRetries: 0 })
    const checks = [
      await attempt("service", async () => {
        const { version } = await anonymous.system.health()
        return `${url}, version ${version}${version === manifest.version ? "" : `; this is ${manifest.version}`}`
      }),
      await attempt("clock", () => clockOf(url)),
      await attempt("credential", async () => {
        const client = makeClient()
        if (context.tokens !== undefined) return `session of ${(await client.auth.getMe()).email}`
        const who = await client.workspaces.whoami()
        return formatCell("scopes" in who ? who.scopes : who)
      })
    ]
    for (const { check, ok, result } of checks) {
      if (given.has("json")) printJson({ check, ok, result })
      else
        print(`${ok ? green("ok    ") : red("failed")} ${check.padEnd(11)} ${formatCell(result)}`)
    }
    return checks.every(({ ok }) => ok) ? exitStatus.success : exitStatus.failure
  }
}
