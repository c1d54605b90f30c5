import { describe, expect, it } from "vitest"
import { parseHostAndPort } from "../src/monitors/ssl/parseHostAndPort.ts"

describe("the host of an SSL monitor", () => {
  it.each([
    ["https://host.example:8443/path?q#x", { host: "host.example", port: "8443" }],
    ["https://host.example/", { host: "host.example", port: "" }],
    ["imaps://mail.example:993", { host: "mail.example", port: "993" }],
    ["host.example:8443", { host: "host.example", port: "8443" }],
    ["https://[2001:db8::1]:8443/", { host: "2001:db8::1", port: "8443" }],
    [" host.example ", { host: "host.example", port: "" }],
    ["2001:db8::1", { host: "2001:db8::1", port: "" }],
    ["https://", { host: "https://", port: "" }]
  ])("%s is read", (host, server) => {
    expect(parseHostAndPort({ host, port: "" })).toEqual(server)
  })

  it("keeps the port that was entered if the address has none", () => {
    expect(parseHostAndPort({ host: "https://host.example/", port: "8443" }).port).toBe("8443")
  })
})
