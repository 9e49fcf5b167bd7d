import { render } from "preact";
import { Shell } from "./shell/Shell";
import { meet } from "./state/server";
import "./state/theme";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/controls.css";
import "./styles/marks.css";
import "./styles/shell.css";
import "./styles/overlays.css";
import "./styles/home.css";
import "./styles/history.css";
import "./styles/case.css";
import "./styles/compare.css";
import "./styles/panels.css";
import "./styles/steps.css";
import "./styles/see.css";
import "./styles/settings.css";

const place = document.getElementById("app");
if (place) {
  render(<Shell />, place);
  // From here on clicks and keys do something; tests hold us to it.
  performance.mark("interactive");
  void meet();
}
