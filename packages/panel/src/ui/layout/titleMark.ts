import { createContext } from "react"

/** What the tab of the browser says before the title of the page, as `2` open incidents. */
export const TitleMark = createContext<string | undefined>(undefined)
