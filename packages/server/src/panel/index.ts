/** The control panel: its files, its pages, and the cookie that keeps its session. */

export { PanelLayer } from "./panel.ts"
