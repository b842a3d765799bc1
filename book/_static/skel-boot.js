// Loads the motion player only on pages that show motion; it lies beside this file.
(function () {
  const here = document.currentScript.src;
  function boot() {
    if (!document.querySelector(".skel-player")) return;
    const script = document.createElement("script");
    script.src = new URL("skelplayer.js", here).href;
    document.head.append(script);
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", boot);
  else boot();
})();
