import { Context, Layer } from "effect"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { extname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { type StaticResponse, precompressedResponse } from "../http/index.ts"
import { pageHeaders } from "./pageHeaders.ts"

/** The panel's files, as `npm run build` has created them. */
export interface BuiltPanel {
  readonly page: StaticResponse
  /** The files by name. The name contains a hash of the content. */
  readonly assets: ReadonlyMap<string, StaticResponse>
}

/** The files of the panel. Undefined if the panel was not built. The API works without it. */
export class PanelFiles extends Context.Service<PanelFiles, BuiltPanel | undefined>()(
  "@scheduling/server/panel/PanelFiles"
) {
  /** Reads the files once, so that no path in a request can reach another file. */
  static readonly layerFrom = (folder: string): Layer.Layer<PanelFiles> =>
    Layer.sync(PanelFiles, () => readPanel(folder))

  /** Provides the built panel, shared by all nodes of the process. */
  static readonly layer: Layer.Layer<PanelFiles> = Layer.sync(
    PanelFiles,
    () => (own ??= readPanel(built))
  )
}

const built = fileURLToPath(new URL("../../../panel/dist", import.meta.url))

let own: BuiltPanel | undefined

const readPanel = (folder: string): BuiltPanel | undefined => {
  const index = join(folder, "index.html")
  if (!existsSync(index)) return undefined
  const assets = join(folder, "assets")
  const names = readdirSync(assets).filter((name) => !/\.(?:br|gz)$/.test(name))
  return {
    page: fileAnswer(index, pageHeaders),
    assets: new Map(names.map((name) => [name, fileAnswer(join(assets, name), immutable)]))
  }
}

const immutable = { "cache-control": "public, max-age=31536000, immutable" }

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2"
}

const fileAnswer = (path: string, headers: Readonly<Record<string, string>>): StaticResponse => {
  const codings = { br: `${path}.br`, gzip: `${path}.gz` }
  const coded = Object.entries(codings).filter(([, file]) => existsSync(file))
  return precompressedResponse(
    {
      ...Object.fromEntries(coded.map(([coding, file]) => [coding, readFileSync(file)])),
      identity: readFileSync(path)
    },
    types[extname(path)] ?? "application/octet-stream",
    headers
  )
}
