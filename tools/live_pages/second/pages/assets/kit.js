function q(s,r){return (r||document).querySelector(s)}
function qa(s,r){return Array.from((r||document).querySelectorAll(s))}
function net(url,opt){opt=opt||{};return fetch(url,{method:opt.method||'POST',headers:opt.data?{'Content-Type':'application/json'}:{},body:opt.data?JSON.stringify(opt.data):undefined}).then(function(r){return r.text().then(function(t){var d=null;try{d=JSON.parse(t)}catch(e){}return {ok:r.ok,status:r.status,data:d}})})}
function on(s,ev,fn){q(s).addEventListener(ev,fn)}
