/** The control panel: its files, its pages, and its session cookie. */

export { PanelLayer } from "./panel.ts"
