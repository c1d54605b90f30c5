/** Live events: a stream of what changes in a workspace, for clients that follow it. */
import { Layer } from "effect"
import { EventStreams } from "./EventStreams.ts"
import { EventsHandlers } from "./http.ts"

export const LiveLayer = EventsHandlers.pipe(Layer.provide(EventStreams.layer))
