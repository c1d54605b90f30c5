import { DnsProbe } from "@scheduling/calls/probes/DnsProbe"
import { HttpProbe } from "@scheduling/calls/probes/HttpProbe"
import { TcpProbe } from "@scheduling/calls/probes/TcpProbe"
import { Effect, Layer } from "effect"
import { makeProbeDns } from "./dns/probeDns.ts"
import { makeProbeHttp } from "./http/probeHttp.ts"
import { makeProbeTcp } from "./tcp/probeTcp.ts"

/** Creates the prober of each kind whose targets are checked at an interval. */
export const makeProbers = Effect.all({
  http: makeProbeHttp,
  tcp: makeProbeTcp,
  dns: makeProbeDns
})

export const ProbesLayer = Layer.mergeAll(HttpProbe.layer, TcpProbe.layer, DnsProbe.layer)
