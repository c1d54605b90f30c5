import { isIP } from "node:net"

/** So many different sites must fail before the network of the node is taken for the reason. */
const sitesUntilCutOff = 5

/**
 * Notices that this node reaches nothing. Five sites that were up have become unreachable since the node
 * last reached any target: then its own network is the likely reason, and not five others. The hosts
 * of one site count once, because the network of one site may well fail as a whole.
 */
export class NetworkWatch {
  readonly #lost = new Set<string>()

  get isCutOff(): boolean {
    return this.#lost.size >= sitesUntilCutOff
  }

  /** Records that something answered. Returns true if the node was cut off until now. */
  noteReached(): boolean {
    const wasCutOff = this.isCutOff
    this.#lost.clear()
    return wasCutOff
  }

  /** Records that a target that was up did not answer. Returns true if the node is cut off since now. */
  noteLost(host: string): boolean {
    const wasCutOff = this.isCutOff
    this.#lost.add(siteOf(host))
    return !wasCutOff && this.isCutOff
  }
}

/** The last two labels of a name, or the network of an address. */
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
