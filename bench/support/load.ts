import autocannon from "autocannon"
import { execFile, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"

export interface GetRequest {
  readonly path: string
  readonly token?: string
}

/** A POST if there is a JSON body, otherwise a GET. */
export interface GetOrPost extends GetRequest {
  readonly body?: string
}

export interface LoadOptions {
  readonly url: string
  /** The requests, sent one after another in a loop. */
  readonly requests: ReadonlyArray<GetOrPost>
  readonly connections: number
  readonly seconds: number
}

export interface LoadResult {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
}

const hasWrk = spawnSync("wrk", ["-v"]).error === undefined

/**
 * The load generator: wrk if it is installed, because it leaves more CPU time to the measured
 * program, otherwise autocannon, which requires only npm.
 */
export const loadGenerator = hasWrk ? "wrk" : "autocannon"

/** Generates load. Returns latencies and requests per second. Fails if any response is an error. */
export const generateLoad = (work: LoadOptions): Promise<LoadResult> =>
  hasWrk ? loadByWrk(work) : loadByAutocannon(work)

const loadByWrk = async ({
  connections,
  requests,
  seconds,
  url
}: LoadOptions): Promise<LoadResult> => {
  const folder = mkdtempSync(join(tmpdir(), "scheduling-bench-"))
  try {
    const script = join(folder, "requests.lua")
    writeFileSync(script, luaOf(requests))
    const { stdout } = await promisify(execFile)("wrk", [
      "--latency",
      "--timeout=10s",
      "--threads=1",
      `--connections=${connections}`,
      `--duration=${seconds}s`,
      `--script=${script}`,
      url
    ])
    const failures = /Non-2xx.*|Socket errors.*/.exec(stdout)
    if (failures !== null) throw new Error(`wrk: ${failures[0]}`)
    return {
      perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]),
      p50: milliseconds(/^\s+50%\s+(\S+)/m.exec(stdout)?.[1]),
      p99: milliseconds(/^\s+99%\s+(\S+)/m.exec(stdout)?.[1])
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const methodOf = ({ body }: GetOrPost) => (body === undefined ? "GET" : "POST")

const headersOf = ({ body, token }: GetOrPost): Readonly<Record<string, string>> => ({
  ...(token !== undefined && { authorization: `Bearer ${token}` }),
  ...(body !== undefined && { "content-type": "application/json" })
})

const luaOf = (requests: ReadonlyArray<GetOrPost>) => `
local requests, last = {}, 0
init = function()
${requests
  .map((request) => {
    const headers = Object.entries(headersOf(request)).map(
      ([name, value]) => `["${name}"] = "${value}"`
    )
    const body = request.body === undefined ? "nil" : `[==[${request.body}]==]`
    return `  table.insert(requests, wrk.format("${methodOf(request)}", "${request.path}", {${headers.join(", ")}}, ${body}))`
  })
  .join("\n")}
end
request = function()
  last = last % #requests + 1
  return requests[last]
end
`

const units: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1_000, m: 60_000 }

const milliseconds = (text = ""): number => {
  const [, value, unit = ""] = /^([\d.]+)(us|ms|s|m)$/.exec(text) ?? []
  return Number(value) * (units[unit] ?? Number.NaN)
}

const loadByAutocannon = async ({
  connections,
  requests,
  seconds,
  url
}: LoadOptions): Promise<LoadResult> => {
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    requests: requests.map((request) => ({
      method: methodOf(request),
      path: request.path,
      headers: headersOf(request),
      ...(request.body !== undefined && { body: request.body })
    }))
  })
  if (result.non2xx + result.errors > 0) {
    throw new Error(`autocannon: ${result.non2xx} responses not 2xx, ${result.errors} errors`)
  }
  return {
    perSecond: result["2xx"] / result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99
  }
}
