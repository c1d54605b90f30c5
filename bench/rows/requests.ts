import { deepStrictEqual } from "node:assert"
import { alternate } from "../support/alternate.ts"
import { makeDatabase } from "../support/database.ts"
import { type GetRequest, generateLoad, type LoadResult } from "../support/load.ts"
import { cronLists, get, keyLists, populate, type Workspace } from "../support/population.ts"
import { appSecret, startPeer, startService } from "../support/processes.ts"
import type { Report } from "../support/report.ts"
import { formatNumber, median, ratios, formatSpread } from "../support/statistics.ts"

const workspaceCount = 64
const connections = 64
const seconds = 5
const rounds = 5

interface Contender {
  readonly url: string
  readonly requests: ReadonlyArray<GetRequest>
}

/** Measures the service and another server alternately, after warming up both. */
const measureAlternately = async (service: Contender, peer: Contender) => {
  const measure = (contender: Contender) => () =>
    generateLoad({ ...contender, connections, seconds })
  await alternate(1, { service: measure(service), peer: measure(peer) })
  return alternate(rounds, { service: measure(service), peer: measure(peer) })
}

const table = (
  peerName: string,
  measured: Readonly<Record<"service" | "peer", ReadonlyArray<LoadResult>>>
): Pick<Report, "columns" | "rows" | "result"> => {
  const throughput = {
    service: measured.service.map((round) => round.perSecond),
    peer: measured.peer.map((round) => round.perSecond)
  }
  const row = (name: string, all: ReadonlyArray<LoadResult>, perSecond: ReadonlyArray<number>) => [
    name,
    formatSpread(perSecond),
    formatNumber(median(all.map(({ p50 }) => p50))),
    formatNumber(median(all.map(({ p99 }) => p99)))
  ]
  return {
    columns: ["", "requests/s", "p50 ms", "p99 ms"],
    rows: [
      row("this service", measured.service, throughput.service),
      row(peerName, measured.peer, throughput.peer)
    ],
    result: `${formatSpread(ratios(throughput.service, throughput.peer))} ×`
  }
}

const work = (request: string) =>
  `\`${request}\`, ${connections} connections that cycle through ${workspaceCount} workspaces, ` +
  `each with its own credential; ${rounds} rounds of ${seconds} s.`

const sameAnswers = async (
  service: Contender,
  peer: Contender,
  comparable: (answer: unknown) => unknown = (answer) => answer
) => {
  const [ours, theirs] = await Promise.all(
    [service, peer].map(async ({ requests, url }) =>
      requests[0] === undefined ? undefined : comparable(await get(url, requests[0]))
    )
  )
  deepStrictEqual(theirs, ours)
}

/**
 * Compares the responses of the service and Fastify, and then measures both of them on the same
 * database.
 */
const compareWithFastify = async (
  requestsOf: (workspaces: ReadonlyArray<Workspace>) => ReadonlyArray<GetRequest>,
  comparable?: (answer: unknown) => unknown
) => {
  await using database = await makeDatabase()
  const env = { DATABASE_URL: database.url, APP_SECRET: appSecret }
  await using ours = await startService(env)
  await using theirs = await startPeer("fastify", env)
  const requests = requestsOf(await populate(ours.url, workspaceCount))
  const service = { url: ours.url, requests }
  const peer = { url: theirs.url, requests }
  await sameAnswers(service, peer, comparable)
  return await measureAlternately(service, peer)
}

export const measureAuthenticatedList = async (): Promise<Report> => ({
  title: "Authenticated list",
  work: `${work("GET W/cron")} API keys, 10 tasks per page, each with its last run. Both look up the key and then the page, and return identical JSON data.`,
  ...table("Fastify + pg, hand-written", await compareWithFastify(cronLists)),
  goal: "≥ 2.0 ×"
})

export const measureKeyVerification = async (): Promise<Report> => {
  await using database = await makeDatabase()
  await using ours = await startService({ DATABASE_URL: database.url })
  const workspaces = await populate(ours.url, workspaceCount)
  await using theirs = await startPeer("betterAuth", {
    DATABASE_URL: database.url,
    APP_SECRET: appSecret,
    WORKSPACES: JSON.stringify(workspaces.map(({ id }) => id))
  })
  const response = await fetch(`${theirs.url}/keys`)
  const theirKeys = (await response.json()) as ReadonlyArray<string>
  const service = { url: ours.url, requests: cronLists(workspaces) }
  const peer = {
    url: theirs.url,
    requests: cronLists(
      workspaces.map((workspace, n) => ({ ...workspace, apiKey: theirKeys[n] ?? "" }))
    )
  }
  await sameAnswers(service, peer)
  return {
    title: "Key verification",
    work: `${work("GET W/cron")} The same request and the same list query; but better-auth verifies the API key, with its rate limit off.`,
    ...table("better-auth + Fastify + pg", await measureAlternately(service, peer)),
    goal: "≥ 10 ×"
  }
}

/**
 * Removes the keys' `last_used_at`. It is written in the background, so the responses can differ.
 */
const withoutLastUse = (answer: unknown) => {
  const { data } = answer as { readonly data: ReadonlyArray<object> }
  return data.map((key) => ({ ...key, last_used_at: null }))
}

export const measureJwtRequest = async (): Promise<Report> => ({
  title: "JWT request",
  work: `${work("GET W/api-keys")} Access tokens of ${workspaceCount} sessions. Both verify the signature, check that the session is active and its user is a member, and list the keys.`,
  ...table("Fastify + jose + pg, hand-written", await compareWithFastify(keyLists, withoutLastUse)),
  goal: "≥ 1.5 ×"
})
