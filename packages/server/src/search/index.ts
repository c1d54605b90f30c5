/**
 * Searches a workspace's records. Database triggers maintain the search table
 * (`migrations/baseline/search.ts`).
 */
import { Layer } from "effect"
import { SearchHandlers } from "./http.ts"
import { SearchRepo } from "./SearchRepo.ts"

export const SearchLayer = SearchHandlers.pipe(Layer.provide(SearchRepo.layer))
