import { isIP } from "node:net"

/**
 * The number of different sites that must fail before the node's own network is assumed to be the
 * reason.
 */
const sitesUntilCutOff = 5

/**
 * Detects that this node has lost its network: five sites that were up became unreachable, and
 * nothing was reached since, so the node's own network is a likelier reason than five outages. The
 * hosts of one site count once, because the network of a site can fail as a whole.
 */
export class NetworkWatch {
  readonly #lost = new Set<string>()

  get isCutOff(): boolean {
    return this.#lost.size >= sitesUntilCutOff
  }

  /** Records a response. Returns true if the node was considered cut off until now. */
  noteReached(): boolean {
    const wasCutOff = this.isCutOff
    this.#lost.clear()
    return wasCutOff
  }

  /**
   * Records that a target that was up did not respond. Returns true if the node is considered cut
   * off from now on.
   */
  noteLost(host: string): boolean {
    const wasCutOff = this.isCutOff
    this.#lost.add(siteOf(host))
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
