import packageJson from "../../package.json" with { type: "json" }

/** The version of the service, as its release is called. */
export const { version } = packageJson
