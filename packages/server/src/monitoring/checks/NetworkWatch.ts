import { isIP } from "node:net"

/** How many different sites must fail before this node's own network counts as the cause. */
const sitesUntilCutOff = 5

/** How long a site can be in doubt. After that, its failures count even if nothing responds. */
const doubtMs = 5 * 60_000

/** How many sites are remembered after the network was reached again. */
const mostRegained = 10_000

/**
 * Detects that this node has lost its network. If five sites that were up became unreachable and
 * nothing has responded since, a failure of this node's network is likelier than five outages. The
 * hosts of one site count once, because a site's network can fail as a whole.
 *
 * Until the fifth site is lost, the failures of the first sites are in doubt, provided that the
 * node has reached five sites before.
 */
export class NetworkWatch {
  /** When each site was lost. */
  readonly #lost = new Map<string, number>()
  /** When something responded after the site was lost. */
  readonly #regained = new Map<string, number>()
  readonly #reached = new Set<string>()

  get isCutOff(): boolean {
    return this.#lost.size >= sitesUntilCutOff
  }

  /**
   * Returns true if a failure does not yet say anything about the host, because no site has
   * responded since the host was lost, or a site responded only after the check had begun.
   */
  isInDoubt(host: string, { beganMs, nowMs }: { beganMs: number; nowMs: number }): boolean {
    if (this.#reached.size < sitesUntilCutOff) return false
    const site = siteOf(host)
    const lostMs = this.#lost.get(site)
    return lostMs === undefined
      ? beganMs < (this.#regained.get(site) ?? -Infinity)
      : nowMs - lostMs < doubtMs
  }

  /** Records a response. Returns true if the node counted as cut off until this response. */
  noteReached(host: string, nowMs: number): boolean {
    const wasCutOff = this.isCutOff
    if (this.#regained.size > mostRegained) this.#regained.clear()
    for (const site of this.#lost.keys()) this.#regained.set(site, nowMs)
    this.#lost.clear()
    const site = siteOf(host)
    this.#regained.delete(site)
    if (this.#reached.size < sitesUntilCutOff) this.#reached.add(site)
    return wasCutOff
  }

  /**
   * Records that a target that was up did not respond. Returns true if the node now begins to count
   * as cut off.
   */
  noteLost(host: string, nowMs: number): boolean {
    const wasCutOff = this.isCutOff
    const site = siteOf(host)
    if (!this.#lost.has(site)) this.#lost.set(site, nowMs)
    return !wasCutOff && this.isCutOff
  }
}

/** Returns the last two labels of a host name, or the network of an IP address. */
const siteOf = (host: string): string => {
  switch (isIP(host)) {
    case 4:
      return host.split(".").slice(0, 2).join(".")
    case 6:
      return host.split(":").slice(0, 3).join(":")
    default:
      return host.replace(/\.$/, "").split(".").slice(-2).join(".")
  }
}
