import { lookup as systemLookup, Resolver } from "node:dns/promises"
import { readFile } from "node:fs/promises"

/** Resolves a host name to at least one address. */
export type ResolveHostName = (hostname: string) => Promise<ReadonlyArray<string>>

/** Where host names are looked up. */
export interface NameSources {
  /** How long the files are cached. */
  readonly filesTtlMs: number
  readonly hostsFile: string
  readonly resolvConf: string
  /** Used instead of the system's name servers. */
  readonly servers?: ReadonlyArray<string>
  /** Resolves a name with the system's getaddrinfo. */
  readonly lookup: ResolveHostName
}

const systemSources: NameSources = {
  filesTtlMs: 10_000,
  hostsFile: process.platform === "win32" ? "C:/Windows/System32/drivers/etc/hosts" : "/etc/hosts",
  resolvConf: "/etc/resolv.conf",
  lookup: async (hostname) =>
    (await systemLookup(hostname, { all: true })).map(({ address }) => address)
}

/**
 * Creates a host name resolver that tenants cannot use to block the database.
 *
 * The system's getaddrinfo blocks one of libuv's threads until it has a response, and at most two
 * of the threads resolve names. A tenant's name server that never responds would block one for 10 s
 * per name, and the database's own lookup would wait behind it.
 *
 * Therefore a name with a dot, which a tenant may own, is never passed to getaddrinfo. It is looked
 * up in the hosts file and then in DNS, which needs no thread: first the exact name, then within
 * the search domains. A name without a dot belongs to the operator's network and is passed to the
 * system, one at a time, so that the other thread stays free for the database.
 */
export const makeHostNameResolver = (sources: NameSources = systemSources): ResolveHostName => {
  const dns = new Resolver({ timeout: 2_000, tries: 2 })
  if (sources.servers !== undefined) dns.setServers(sources.servers)
  const hosts = cached(sources.filesTtlMs, async () => parseHosts(await read(sources.hostsFile)))
  const domains = cached(sources.filesTtlMs, async () =>
    parseSearchDomains(await read(sources.resolvConf))
  )
  const lookup = runSequentially(sources.lookup)

  return async (hostname) => {
    const name = hostname.replace(/\.$/, "").toLowerCase()
    if (!name.includes(".")) return lookup(hostname)
    const listed = (await hosts()).get(name)
    if (listed !== undefined) return listed
    try {
      return await queryDns(dns, hostname)
    } catch (error) {
      if (hostname.endsWith(".") || !isHostNotFound(error)) throw error
      for (const domain of await domains()) {
        const addresses = await queryDns(dns, `${name}.${domain}.`).catch(emptyIfNotFound)
        if (addresses.length > 0) return addresses
      }
      throw error
    }
  }
}

/**
 * Queries DNS for both address families concurrently. If neither has an address, an error other
 * than "not found" takes precedence.
 */
const queryDns = async (dns: Resolver, hostname: string): Promise<ReadonlyArray<string>> => {
  const answers = await Promise.allSettled([dns.resolve4(hostname), dns.resolve6(hostname)])
  const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []))
  if (addresses.length > 0) return addresses
  const errors = answers.flatMap((answer): ReadonlyArray<unknown> =>
    answer.status === "rejected" ? [answer.reason] : []
  )
  throw errors.find((error) => !isHostNotFound(error)) ?? errors[0]
}

const notFoundCodes = new Set<unknown>(["ENOTFOUND", "ENODATA"])

const isHostNotFound = (error: unknown): boolean =>
  error instanceof Error && "code" in error && notFoundCodes.has(error.code)

const emptyIfNotFound = (error: unknown): ReadonlyArray<string> => {
  if (isHostNotFound(error)) return []
  throw error
}

const read = (file: string): Promise<string> => readFile(file, "utf8").catch(() => "")

const fieldsOf = (text: string): ReadonlyArray<ReadonlyArray<string>> =>
  text.split("\n").map((line) =>
    line
      .replace(/[#;].*/, "")
      .trim()
      .split(/\s+/)
  )

export const parseHosts = (text: string): ReadonlyMap<string, ReadonlyArray<string>> => {
  const hosts = new Map<string, Array<string>>()
  for (const [address = "", ...names] of fieldsOf(text)) {
    for (const name of names) {
      const key = name.toLowerCase()
      const addresses = hosts.get(key)
      if (addresses === undefined) hosts.set(key, [address])
      else addresses.push(address)
    }
  }
  return hosts
}

/** Parses the last `search` or `domain` line, which applies according to resolv.conf(5). */
export const parseSearchDomains = (text: string): ReadonlyArray<string> =>
  fieldsOf(text)
    .findLast(([keyword]) => keyword === "search" || keyword === "domain")
    ?.slice(1)
    .map((domain) => domain.replace(/\.$/, ""))
    .filter((domain) => domain !== "") ?? []

const cached = <A>(ttlMs: number, load: () => Promise<A>): (() => Promise<A>) => {
  let loaded: Promise<A> | undefined
  let untilMs = 0
  return () => {
    const now = performance.now()
    if (loaded === undefined || now >= untilMs) {
      loaded = load()
      untilMs = now + ttlMs
    }
    return loaded
  }
}

const maxWaiting = 100

const runSequentially = (resolve: ResolveHostName): ResolveHostName => {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  return async (hostname) => {
    if (waiting >= maxWaiting) throw Object.assign(new Error("busy"), { code: "EAI_AGAIN" })
    waiting++
    const lookup = last.then(() => resolve(hostname))
    last = lookup.catch(() => {}).finally(() => waiting--)
    return lookup
  }
}
