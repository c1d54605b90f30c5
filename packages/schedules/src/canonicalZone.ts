const areas: ReadonlyMap<string, string> = new Map(
  (
    "Africa America Antarctica Arctic Asia Atlantic Australia Brazil Canada Chile Etc Europe " +
    "Indian Mexico Pacific US"
  )
    .split(" ")
    .map((area) => [area.toLowerCase(), area])
)

/** Names without an area, and aliases with irregular letter case. */
const irregularNames: ReadonlyMap<string, string> = new Map(
  (
    "UTC GMT GMT0 GMT+0 GMT-0 UCT Zulu Universal Greenwich CET CST6CDT Cuba EET EST EST5EDT " +
    "Egypt Eire GB GB-Eire HST Hongkong Iceland Iran Israel Jamaica Japan Kwajalein Libya MET " +
    "MST MST7MDT NZ NZ-CHAT Navajo PRC PST8PDT Poland Portugal ROC ROK Singapore Turkey W-SU " +
    "WET Etc/UTC Etc/UCT Etc/GMT Etc/GMT0 Etc/GMT+0 Etc/GMT-0 Australia/ACT Australia/LHI " +
    "Australia/NSW America/Argentina/ComodRivadavia America/Knox_IN Brazil/DeNoronha " +
    "Chile/EasterIsland Mexico/BajaNorte Mexico/BajaSur"
  )
    .split(" ")
    .map((name) => [name.toLowerCase(), name])
)

/**
 * A cache of valid names, because querying the runtime takes 50 µs, which is too long to do for
 * every row. It contains only canonical names, so the IANA database bounds its size.
 */
const knownNames = new Set<string>()

/**
 * Returns the name of a time zone with the letter case of the IANA database, or undefined if the
 * name is not in the database. Offsets (`+02:00`) are rejected, because they have no clock changes.
 * Abbreviations are rejected, because they are ambiguous: the runtime would take "IST" for India
 * and "BST" for Bangladesh. Aliases are kept: `Asia/Kolkata`, although the runtime calls it
 * `Asia/Calcutta`.
 */
export const canonicalZone = (name: string): string | undefined => {
  if (knownNames.has(name)) return name
  const key = name.toLowerCase()
  const slash = key.indexOf("/")
  const area = areas.get(key.slice(0, slash))
  const regular = area === undefined ? undefined : area + titleCase(key.slice(slash))
  const spelled = irregularNames.get(key) ?? regular
  const resolved = spelled === undefined ? undefined : resolve(name)
  if (spelled === undefined || resolved === undefined) return undefined
  const canonical = resolved.toLowerCase() === key ? resolved : spelled
  knownNames.add(canonical)
  return canonical
}

const resolve = (name: string): string | undefined => {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: name }).resolvedOptions().timeZone
  } catch {
    return undefined
  }
}

const titleCase = (key: string): string =>
  key.replace(/(?<![a-z])[a-z]/g, (letter) => letter.toUpperCase())

/** Returns the problem with a name that is not a canonical time zone name. */
export const zoneProblem = (name: string): string | undefined => {
  if (canonicalZone(name) === name) return undefined
  const shown = JSON.stringify(name.length > 40 ? `${name.slice(0, 40)}…` : name)
  const kind = /^[+\-\u2212]\d/.test(name) ? "an offset, not" : "not"
  return `${shown} is ${kind} an IANA time zone name such as "Europe/Berlin" or "UTC"`
}
